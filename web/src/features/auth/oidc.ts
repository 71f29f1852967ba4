// What a flow at the OpenID provider needs when the browser comes back; only this tab has it.
import type { StartedOidc } from 'foyer-client';

const KEPT = 'foyer.oidc';

export interface KeptFlow {
  state: string;
  binding: string;
  returnTo: string | null;
}

export function keepFlow({ state, binding }: StartedOidc, returnTo: string | null): void {
  const kept: KeptFlow = { state, binding, returnTo };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}

/** The flow that this tab started last, once. */
export function takeFlow(): KeptFlow | undefined {
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  return kept === null ? undefined : (JSON.parse(kept) as KeptFlow);
}

/** How a flow can end without a sign-in, in addition to a refusal of the server. */
export type FlowEnd = 'refused' | 'failed' | 'over';

/** What the provider's answer in the address says; undefined when it is to be completed. */
export function endOf(answer: Pick<URLSearchParams, 'get'>, flow: KeptFlow | undefined): FlowEnd | undefined {
  const error = answer.get('error');
  if (error) return error === 'access_denied' ? 'refused' : 'failed';
  return answer.get('code') && flow && flow.state === answer.get('state') ? undefined : 'over';
}
