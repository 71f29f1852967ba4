/** The parameters after `#`, which no server sees. They leave the address and the history at once. */
export function takeFragment(): URLSearchParams {
  const taken = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  return taken;
}
