// Dark or light: kept in this browser, read by the shell before the first paint.
export type Scheme = 'dark' | 'light' | 'system';

const KEPT = 'foyer.scheme';

export function keptScheme(): Scheme {
  const kept = localStorage.getItem(KEPT);
  return kept === 'dark' || kept === 'light' ? kept : 'system';
}

export function useScheme(scheme: Scheme): void {
  if (scheme === 'system') localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, scheme);
  const light = scheme === 'system' ? matchMedia('(prefers-color-scheme: light)').matches : scheme === 'light';
  document.documentElement.dataset.scheme = light ? 'light' : 'dark';
}
