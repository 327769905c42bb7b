// Server-sent events from a byte stream. EventSource cannot send the namespace header, and hides status codes.

export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

// Splits a growing text into events; keeps an unfinished one for the next chunk.
export class EventParser {
  private rest = '';

  push(chunk: string): ServerEvent[] {
    this.rest += chunk;
    const blocks = this.rest.split(/\r?\n\r?\n/);
    this.rest = blocks.pop()!;
    return blocks.map(parseBlock).filter((event) => event !== undefined);
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  const event: ServerEvent = { id: '', event: 'message', data: '' };
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith(':')) continue; // filler that keeps the connection open
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') event.id = value;
    else if (name === 'event') event.event = value;
    else if (name === 'data') data.push(value);
  }
  if (data.length === 0 && event.event === 'message') return undefined;
  event.data = data.join('\n');
  return event;
}
