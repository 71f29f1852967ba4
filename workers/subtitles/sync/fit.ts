// Fits cues in a thread of their own, because the comparison takes seconds of the processor.
import { aside } from '#platform/aside.ts';
import type { Fit } from './align.ts';
import type { Heard, Span } from './correlate.ts';

const LIMIT_MS = 120_000;
const WHOLE = new URL('./align.ts', import.meta.url);
const SAMPLES = new URL('./align-samples.ts', import.meta.url);

/** The timing at which cues fit the whole soundtrack. */
export const fitToAll = (cues: readonly Span[], heard: Heard): Promise<Fit> =>
  aside<Fit>({ module: WHOLE, name: 'align', limitMs: LIMIT_MS }, cues, heard);

/** The timing at which cues fit some stretches. Undefined when these do not agree. */
export const fitToStretches = (cues: readonly Span[], heard: Heard): Promise<Fit | undefined> =>
  aside<Fit | undefined>({ module: SAMPLES, name: 'alignBySamples', limitMs: LIMIT_MS }, cues, heard);
