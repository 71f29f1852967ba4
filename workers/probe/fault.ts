import type { ProbeFault } from '#platform/media.ts';

/** A file that cannot be probed; `fault` is stored with the file and shown as an issue. */
export class ProbeError extends Error {
  readonly fault: ProbeFault;

  constructor(fault: ProbeFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Thrown by the in-process readers when ffmpeg or ffprobe is needed instead. */
export class Unsure extends Error {}

/** Reports that the in-process reader does not know this. */
export function unsure(why: string): never {
  throw new Unsure(why);
}
