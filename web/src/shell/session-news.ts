// Tabs of a browser share the cookie of the session. Each tells the others when it has logged in or out, so that none of them
// shows the name, the rights or the tasks of a session that is over.
export type SessionNews = 'in' | 'out';

export class TabsOfSession {
  private readonly others = new BroadcastChannel(`easyretry ${location.pathname} session`);

  // `listener` hears the other tabs, not this one.
  constructor(listener: (news: SessionNews) => void) {
    this.others.onmessage = ({ data }: MessageEvent<SessionNews>) => listener(data);
  }
  tell(news: SessionNews): void {
    this.others.postMessage(news);
  }
  close(): void {
    this.others.close();
  }
}
