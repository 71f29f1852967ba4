// The first content of a tab: a page that opens draws what fits on the screen, and the rest once that is painted, in tasks of its own.
import { removeFrame } from '#core/browser/first-screen.ts';

let done = $state(false);

export const firstPaint = {
  /** False until the first content is on the screen; true for all that opens later. */
  get done(): boolean {
    return done;
  },
};

/** Calls `run` in a task of its own once the next frame is painted; the result takes it back. */
export function afterPaint(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(run);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/** Called by a page when its first content is drawn. */
export const firstContent = (): (() => void) =>
  afterPaint(() => {
    done = true;
    removeFrame();
  });
