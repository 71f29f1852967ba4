import { SaxesParser } from 'saxes';
import {
  type Actor,
  emptyNfo,
  IDS,
  idsOfPages,
  MAX_ITEMS,
  MAX_TEXT,
  type Nfo,
  noteElement,
  noteRatings,
  type Rating,
} from './nfo-fields.ts';
import { oneLine } from './text.ts';

export type { Nfo } from './nfo-fields.ts';

/** Larger files are not read. */
export const NFO_BYTES = 2 * 1024 * 1024;
const MAX_DEPTH = 12;
/** A text with more faults is not XML. */
const MAX_FAULTS = 20;
/** A page address is near the beginning or after the XML. */
const MAX_ADDRESS = 100_000;

/** The text of a file in UTF-8, UTF-16 or, if it is neither, Windows-1252. */
export function nfoText(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/**
 * Reads an NFO: XML, the address of a page, or both. Document types and entities are refused, so nothing outside the
 * file is ever read. Undefined if it is neither.
 */
export function readNfo(text: string): Nfo | undefined {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) return undefined;
  const reading = new Reading();
  const parser = new SaxesParser({ fragment: true });
  parser.on('error', () => reading.fault());
  parser.on('opentag', (tag) => reading.open(tag.name, tag.attributes as Record<string, string>));
  parser.on('text', (chunk) => reading.text(chunk));
  parser.on('cdata', (chunk) => reading.text(chunk));
  parser.on('closetag', () => reading.close());
  try {
    parser.write(text.replace(/^\uFEFF/, '').trimStart()).close();
  } catch {
    reading.failed = true;
  }
  const content = reading.answer();
  return content ?? addressOf(text);
}

function addressOf(text: string): Nfo | undefined {
  const ids = idsOfPages(text.slice(0, MAX_ADDRESS));
  return Object.keys(ids).length === 0 ? undefined : { ...emptyNfo('address'), ids };
}

const ROOTS = new Set(['movie', 'tvshow', 'episodedetails', 'video', 'musicvideo']);

interface Open {
  name: string;
  attributes: Record<string, string>;
  text: string;
}

class Reading {
  failed = false;
  #faults = 0;
  readonly #path: Open[] = [];
  readonly #all: Nfo[] = [];
  #actor: Actor | undefined;
  #ratings: Rating[] = [];
  /** Text outside the XML. */
  #outside = '';

  fault(): void {
    this.failed = true;
    this.#faults += 1;
    if (this.#faults > MAX_FAULTS) throw new Error('not XML');
  }

  open(name: string, attributes: Record<string, string>): void {
    const low = name.toLowerCase();
    if (this.#path.length >= MAX_DEPTH || this.#all.length > MAX_ITEMS) throw new Error('too deep or too many');
    if (this.#path.length === 0) this.#all.push(emptyNfo(low));
    this.#path.push({ name: low, attributes, text: '' });
    if (low === 'actor') this.#actor = { name: '' };
  }

  text(chunk: string): void {
    const top = this.#path.at(-1);
    if (!top) this.#outside = (this.#outside + chunk.slice(0, MAX_TEXT)).slice(0, MAX_TEXT);
    else if (top.text.length < MAX_TEXT) top.text += chunk.slice(0, MAX_TEXT);
  }

  close(): void {
    const closed = this.#path.pop();
    const nfo = this.#all.at(-1);
    if (!closed || !nfo) return;
    if (this.#path.length === 3 && closed.name === 'value') this.#noteRating(closed.text);
    if (this.#path.length === 2) this.#noteActor(closed.name, oneLine(closed.text));
    if (this.#path.length === 1) this.#noteMember(nfo, closed);
  }

  /** `ratings/rating/value`; its maximum is an attribute of `rating`. */
  #noteRating(text: string): void {
    const attributes = this.#path.at(-1)?.attributes ?? {};
    const value = Number.parseFloat(oneLine(text));
    const max = Number.parseFloat(attributes.max ?? '10');
    if (this.#ratings.length < MAX_ITEMS)
      this.#ratings.push({ value, max, chosen: attributes.default?.toLowerCase() === 'true' });
  }

  #noteActor(name: string, text: string): void {
    if (!this.#actor || text === '') return;
    if (name === 'name') this.#actor.name = text;
    if (name === 'role') this.#actor.character = text;
    const provider = IDS[name];
    if (provider && /^[\w-]{1,40}$/.test(text)) this.#actor.ids = { ...this.#actor.ids, [provider]: text };
  }

  #noteMember(nfo: Nfo, closed: Open): void {
    if (closed.name === 'actor') this.#endActor(nfo);
    else if (closed.name === 'ratings') {
      noteRatings(nfo, this.#ratings);
      this.#ratings = [];
    } else noteElement(nfo, closed);
  }

  #endActor(nfo: Nfo): void {
    if (this.#actor?.name && nfo.actors.length < MAX_ITEMS) nfo.actors.push(this.#actor);
    this.#actor = undefined;
  }

  /** The content before a fault counts if it includes a title or an id. */
  answer(): Nfo | undefined {
    const [first, ...more] = this.#all.filter(({ root }) => ROOTS.has(root));
    if (!first) return undefined;
    const nfo = first.root === 'episodedetails' ? more.reduce(together, first) : first;
    const ids = { ...idsOfPages(this.#outside), ...nfo.ids };
    return this.failed && nfo.title === undefined && Object.keys(ids).length === 0 ? undefined : { ...nfo, ids };
  }
}

/** Several episodes in one file are one item: their titles and plots are joined. */
function together(one: Nfo, other: Nfo): Nfo {
  if (other.root !== 'episodedetails') return one;
  const titles = [one.title, other.title].filter((title) => title !== undefined);
  const plots = [one.plot, other.plot].filter((plot) => plot !== undefined);
  return {
    ...one,
    ...(titles.length > 0 && { title: titles.join(' / ') }),
    ...(plots.length > 0 && { plot: plots.join('\n\n').slice(0, MAX_TEXT) }),
    directors: [...new Set([...one.directors, ...other.directors])],
    writers: [...new Set([...one.writers, ...other.writers])],
    actors: [...new Map([...one.actors, ...other.actors].map((actor) => [actor.name, actor])).values()],
  };
}
