// What a flow at the OpenID provider needs when the browser comes back; only this tab has it.
import type { StartedOidc } from 'foyer-client';

const KEPT = 'foyer.oidc';

export function keepFlow({ state, binding }: StartedOidc): void {
  sessionStorage.setItem(KEPT, JSON.stringify({ state, binding }));
}

/** The binding of the flow with this state, once. */
export function takeFlow(state: string): string | undefined {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}') as { state?: string; binding?: string };
  sessionStorage.removeItem(KEPT);
  return kept.state === state ? kept.binding : undefined;
}
