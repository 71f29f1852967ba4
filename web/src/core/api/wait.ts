/** Calls `answered` once when `probe` succeeds, tried each `everyMs`; the result ends the wait. */
export function waitFor(probe: () => Promise<unknown>, answered: () => void, everyMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  const look = (): void => {
    probe().then(
      () => {
        if (!ended) answered();
      },
      () => {
        if (!ended) timer = setTimeout(look, everyMs);
      },
    );
  };
  timer = setTimeout(look, everyMs);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
