// JSON as text. JSON.parse would change large numbers (9007199254740993 becomes …992), and an operator reads ids in
// arguments: so the text of the response is cut and indented without parsing its numbers.

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i + 1;
  }
  return text.length;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') {
      i = endOfString(text, i) - 1;
      if (depth === 0) return i + 1;
    } else if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (depth === 0 && (c === ',' || /\s/.test(c))) return i;
  }
  return text.length;
}

const skipSpace = (text: string, at: number) => {
  while (at < text.length && /\s/.test(text[at]!)) at++;
  return at;
};

// The raw text of member `name` of the object `text`; undefined if it has none.
export function rawMember(text: string, name: string): string | undefined {
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return undefined;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] === '"') {
    const keyEnd = endOfString(text, at);
    const key = text.slice(at + 1, keyEnd - 1);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, value);
    if (key === name) return text.slice(value, end);
    at = skipSpace(text, skipSpace(text, end) + 1);
  }
  return undefined;
}

// Indents JSON by two spaces, every token as it was sent.
export function indent(text: string): string {
  let out = '';
  let depth = 0;
  const line = () => '\n' + '  '.repeat(depth);
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '"') {
      const end = endOfString(text, i);
      out += text.slice(i, end);
      i = end - 1;
    } else if (c === '{' || c === '[') {
      const next = skipSpace(text, i + 1);
      if (text[next] === '}' || text[next] === ']') {
        out += c + text[next];
        i = next;
      } else {
        depth++;
        out += c + line();
      }
    } else if (c === '}' || c === ']') {
      depth = Math.max(0, depth - 1);
      out += line() + c;
    } else if (c === ',') out += c + line();
    else if (c === ':') out += ': ';
    else if (!/\s/.test(c)) out += c;
  }
  return out;
}
