// English and Simplified Chinese. The texts of a language are loaded when it is used; those of all pages but the first, when
// one of them is opened.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { getPrefs, type Prefs } from '../lib/prefs';

type Language = 'en' | 'zh';

const FIRST = { en: () => import('./en.json'), zh: () => import('./zh.json') };
const OTHERS = { en: () => import('./others-en.json'), zh: () => import('./others-zh.json') };

const loaded = new Set<() => Promise<unknown>>();
let others = false; // the texts of the other pages are needed

export function chosenLanguage(prefs: Prefs, browser: readonly string[]): Language {
  if (prefs.language !== 'auto') return prefs.language;
  const first = browser.find((each) => /^(en|zh)\b/i.test(each));
  return first?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

async function load(language: Language): Promise<void> {
  for (const file of others ? [FIRST[language], OTHERS[language]] : [FIRST[language]]) {
    if (loaded.has(file)) continue;
    i18next.addResourceBundle(language, 'translation', (await file()).default, true);
    loaded.add(file);
  }
}

export async function loadOtherTexts(): Promise<void> {
  others = true;
  await load(chosenLanguage(getPrefs(), navigator.languages));
}

export async function useLanguageOfPrefs(): Promise<void> {
  const language = chosenLanguage(getPrefs(), navigator.languages);
  await load(language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
}

export async function startI18n(): Promise<void> {
  // Texts are shown as text nodes by React, which escapes them.
  await i18next.use(initReactI18next).init({ lng: 'en', resources: {}, interpolation: { escapeValue: false } });
  await useLanguageOfPrefs();
}
