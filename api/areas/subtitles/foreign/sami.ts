import type { MadeCue } from './made-cues.ts';
import { plainText, type Tag, walkMarkup } from './markup.ts';

export const isSami = (text: string): boolean => /<sami\b/i.test(text.slice(0, 4000));

interface Sync {
  startMs: number;
  className: string;
  text: string;
}

const STYLES = ['i', 'b', 'u'];
/** Of the last cue, which nothing ends. */
const SHOWN_MS = 4000;

/** SAMI: each `<SYNC>` begins a cue, and an empty one ends it. A file may hold several languages by class. */
export function samiCues(text: string, language: string | undefined): MadeCue[] {
  const reader = new SamiReader();
  const body = text.search(/<body\b/i);
  walkMarkup(body < 0 ? text : text.slice(body), reader);
  const syncs = reader.ended();
  const wanted = classOf(text, syncs, language);
  const own = syncs.filter(({ className }) => className === wanted || className === '');
  return own.map(({ startMs, text: words }, at) => ({
    ...{ startMs, endMs: own[at + 1]?.startMs ?? startMs + SHOWN_MS },
    text: words.replaceAll('\u00a0', ' ').trim(),
  }));
}

/** The class whose style names the language, else the first class. */
function classOf(text: string, syncs: readonly Sync[], language: string | undefined): string {
  const names = [...new Set(syncs.map(({ className }) => className))].filter((name) => name !== '');
  const code = language?.slice(0, 2).toLowerCase();
  const styles = text.slice(0, 8000).toLowerCase();
  const named = names.find((name) => {
    const at = styles.indexOf(`.${name}`);
    return at >= 0 && code !== undefined && styles.slice(at, at + 200).includes(`lang:${code}`);
  });
  const spaced = names.find((name) => code !== undefined && name.startsWith(code));
  return named ?? spaced ?? names[0] ?? '';
}

class SamiReader {
  readonly #syncs: Sync[] = [];
  #now: Sync | undefined;
  #at = 0;

  readonly tag = ({ name, closing, attributes }: Tag): void => {
    const { start = '', class: className = '' } = attributes;
    if (STYLES.includes(name)) this.text(`<${closing ? '/' : ''}${name}>`, false);
    else if (name === 'br') this.text('\n');
    else if (closing) return;
    else if (name === 'sync') this.#begin(Number.parseInt(start, 10) || 0);
    else if (name === 'p') this.#turn(className.toLowerCase().slice(0, 64));
  };

  readonly text = (text: string, isForeign = true): void => {
    if (this.#now) this.#now.text += isForeign ? plainText(text === '\n' ? text : text.replace(/\s+/g, ' ')) : text;
  };

  #begin(startMs: number): void {
    this.#end();
    this.#at = startMs;
    this.#now = { startMs, className: '', text: '' };
  }

  /** A sync may hold a paragraph of each language. */
  #turn(className: string): void {
    if (this.#now && this.#now.className === '' && this.#now.text.trim() === '') this.#now.className = className;
    else {
      this.#end();
      this.#now = { startMs: this.#at, className, text: '' };
    }
  }

  #end(): void {
    if (this.#now) this.#syncs.push(this.#now);
    this.#now = undefined;
  }

  ended(): Sync[] {
    this.#end();
    return this.#syncs.sort((a, b) => a.startMs - b.startMs);
  }
}
