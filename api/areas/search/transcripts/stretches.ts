/** A cue of a track in its own times, as plain text. */
export interface PlainCue {
  startMs: number;
  endMs: number;
  text: string;
}

export interface Stretch {
  number: number;
  startMs: number;
  /** The first one is the last of the stretch before, so that a phrase over two cues is in one stretch. */
  cues: readonly PlainCue[];
}

const STRETCH_MS = 60_000;
/** A stretch of karaoke or of broken times ends after so many cues. */
const MOST_CUES = 100;
const MOST_TEXT = 1000;

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', nbsp: ' ', lrm: '', rlm: '' };

/** The text of a cue without tags and line breaks. */
export function plainText(text: string): string {
  const bare = text
    .replace(/<[^<>]{0,200}>/g, '')
    .replace(/&(\w{1,8});/g, (all, name: string) => ENTITIES[name] ?? all);
  return bare.replace(/\s+/g, ' ').trim().slice(0, MOST_TEXT).toWellFormed();
}

/** Cues in stretches of about a minute with one cue of overlap. */
export function stretchesOf(cues: readonly PlainCue[]): Stretch[] {
  const made: { number: number; startMs: number; cues: PlainCue[] }[] = [];
  for (const cue of cues) {
    const last = made.at(-1);
    const full = last && (cue.startMs - last.startMs >= STRETCH_MS || last.cues.length >= MOST_CUES);
    if (last && !full) last.cues.push(cue);
    else made.push({ number: made.length, startMs: cue.startMs, cues: [...(last?.cues.slice(-1) ?? []), cue] });
  }
  return made;
}
