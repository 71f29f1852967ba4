// Queries of catalogues on sockets of this machine, by the product's own client.
import type { Agent } from '#platform/agents/agent.ts';
import { type CatalogueDeps, Catalogues, type Patience } from '#platform/agents/catalogues.ts';
import { createOutbound, type Outbound } from '#platform/outbound.ts';
import { saveSettings } from '#platform/settings.ts';
import type { Api } from '../api.ts';

/** The guarded client with loopback open, since fakes have no other address. */
export const localOutbound = (): Outbound => {
  const outbound = createOutbound();
  return (url, options) => outbound(url, { ...options, allow: ['127.0.0.0/8', ...(options?.allow ?? [])] });
};

export const localCatalogues = (deps: CatalogueDeps): Catalogues => new Catalogues(deps, localOutbound());

/** Makes the agents' addresses those of fakes. */
export async function placeAgents({ deps }: Api, urls: Partial<Record<Agent['id'], string>>): Promise<void> {
  await saveSettings(deps.db, { 'metadata.baseUrls': urls }, null);
  await deps.settings.reload();
}

export const patience = (more: Partial<Patience> = {}): Patience => ({
  signal: new AbortController().signal,
  limitMs: 8000,
  ...more,
});

/** Makes all kept answers older by a day. */
export async function ageAnswers({ deps }: Api): Promise<void> {
  await deps.db.raw(`update catalogue_answers set fetched_at = fetched_at - interval '25 hours'`);
}
