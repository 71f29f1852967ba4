/** The parameters after `#`, which no server sees. They leave the address and the history at once. */
export function takeFragment(): URLSearchParams {
  const taken = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  return taken;
}

/** Calls `handle` with the parameters of each further link that is opened in this tab, which loads no page again; the result ends it. */
export function onFragment(handle: (values: URLSearchParams) => void): () => void {
  const take = (): void => {
    if (location.hash) handle(takeFragment());
  };
  addEventListener('hashchange', take);
  return () => removeEventListener('hashchange', take);
}
