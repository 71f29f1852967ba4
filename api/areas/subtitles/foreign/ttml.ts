import type { MadeCue } from './made-cues.ts';
import { plainText, type Tag, walkMarkup } from './markup.ts';

export const isTtml = (text: string): boolean => /<(?:\w{1,16}:)?tt[\s>]/i.test(text.slice(0, 4000));

interface Clock {
  frameRate: number;
  tickRate: number;
}

/** TTML and DFXP: the paragraphs with their times, and italic and bold of their spans. */
export function ttmlCues(text: string): MadeCue[] {
  const reader = new TtmlReader();
  walkMarkup(text, reader);
  return reader.cues;
}

class TtmlReader {
  readonly cues: MadeCue[] = [];
  readonly #clock: Clock = { frameRate: 30, tickRate: 0 };
  #now: MadeCue | undefined;
  /** Tags that end each open span. */
  readonly #open: string[][] = [];

  readonly tag = (tag: Tag): void => {
    if (tag.name === 'tt' && !tag.closing) this.#rates(tag.attributes);
    else if (tag.name === 'p') this.#paragraph(tag);
    else if (tag.name === 'br') this.#add('\n');
    else if (tag.name === 'span') this.#span(tag);
  };

  readonly text = (text: string): void => this.#add(plainText(text.replace(/\s+/g, ' ')).replaceAll('<', '‹'));

  #add(text: string): void {
    if (this.#now) this.#now.text += text;
  }

  #rates(attributes: Readonly<Record<string, string>>): void {
    const rate = Number(attributes['framerate']);
    const [over, under] = (attributes['frameratemultiplier'] ?? '').split(/[\s:]/).map(Number);
    if (rate > 0) this.#clock.frameRate = over && under ? (rate * over) / under : rate;
    this.#clock.tickRate = Number(attributes['tickrate']) || 0;
  }

  #paragraph({ closing, empty, attributes }: Tag): void {
    if (this.#now) this.cues.push(this.#now);
    this.#now = undefined;
    this.#open.length = 0;
    if (closing || empty) return;
    const startMs = timeOf(attributes['begin'], this.#clock);
    const endMs = attributes['end'] === undefined ? startMs + timeOf(attributes['dur'], this.#clock) : undefined;
    this.#now = { startMs, endMs: endMs ?? timeOf(attributes['end'], this.#clock), text: '' };
  }

  #span({ closing, empty, attributes }: Tag): void {
    if (empty) return;
    if (closing) {
      for (const tag of this.#open.pop() ?? []) this.#add(`</${tag}>`);
      return;
    }
    const tags = [
      ...(attributes['fontstyle'] === 'italic' ? ['i'] : []),
      ...(attributes['fontweight'] === 'bold' ? ['b'] : []),
    ];
    if (this.#open.length < 16) this.#open.push(tags.toReversed());
    for (const tag of tags) this.#add(`<${tag}>`);
  }
}

const UNITS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** `00:01:02.500`, `00:01:02:12` with frames, `62.5s`, `123f`, `1000t`. */
function timeOf(text: string | undefined, { frameRate, tickRate }: Clock): number {
  const value = (text ?? '').trim().slice(0, 40);
  const [, number, unit] = /^(\d{1,12}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$/.exec(value) ?? [];
  const units: Record<string, number> = { ...UNITS, f: 1000 / frameRate, t: 1000 / (tickRate || frameRate) };
  if (unit !== undefined) return Math.round(Number(number) * (units[unit] ?? 0));
  const [, h, m, s, frames = 0] = /^(\d{1,4}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)(?::(\d{1,3}))?$/.exec(value) ?? [];
  if (h === undefined) return 0;
  const seconds = Number(h) * 3600 + Number(m) * 60 + Number(s) + Number(frames) / frameRate;
  return Math.round(seconds * 1000);
}
