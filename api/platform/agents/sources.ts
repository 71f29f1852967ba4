// The sources of values of an item: agents with the means that they query by.

import type { Db } from '../db.ts';
import { childrenOfWork, describeWork, identifyWork, spineItemTypes } from '../spine/agent.ts';
import { hasPack } from '../spine/packs.store.ts';
import {
  type Agent,
  type Description,
  type Found,
  type Identity,
  isCatalogue,
  type KnownChild,
  type Query,
  type RemotePicture,
  type Wanted,
} from './agent.ts';
import type { Catalogues, Patience } from './catalogues.ts';
import { agentOf } from './index.ts';
import type { SharedAnswers } from './shared-answers.ts';

/** An agent that can be queried about one item. */
export interface Source {
  id: string;
  /** The provider of its ids; a source without one identifies by the ids of others too. */
  provider?: string | undefined;
  identify?: ((wanted: Wanted) => Promise<Found[]>) | undefined;
  describe?: ((identity: Identity) => Promise<Description | undefined>) | undefined;
  artwork?: ((identity: Identity) => Promise<RemotePicture[]>) | undefined;
  children?: ((identity: Identity) => Promise<KnownChild[]>) | undefined;
}

/** Whether an agent describes items of the type at all. */
export function describesType(id: string, type: string): boolean {
  if (id === 'spine') return spineItemTypes.includes(type);
  return isCatalogue(id) && agentOf(id).itemTypes.includes(type);
}

export interface Means {
  db: Db;
  catalogues: Catalogues;
  patience: Patience;
  /** Shared with the sources of other items. */
  answers?: SharedAnswers;
}

/** The source of an agent; undefined for agents that read files, and for packs while none is loaded. */
export async function sourceOf(id: string, means: Means): Promise<Source | undefined> {
  if (id === 'spine') return (await hasPack(means.db)) ? spineSource(means.db) : undefined;
  if (!isCatalogue(id)) return undefined;
  const agent = agentOf(id);
  const query = means.catalogues.queryOf(agent, means.patience);
  return catalogueSource(agent, means.answers?.over(agent.id, query) ?? query);
}

const spineSource = (db: Db): Source => ({
  id: 'spine',
  identify: (wanted) => identifyWork(db, wanted),
  describe: (identity) => describeWork(db, identity),
  children: (identity) => childrenOfWork(db, identity),
});

const catalogueSource = (agent: Agent, query: Query): Source => ({
  id: agent.id,
  provider: agent.provider,
  identify: agent.identify && ((wanted) => agent.identify?.(query, wanted) ?? Promise.resolve([])),
  describe: agent.describe && ((identity) => agent.describe?.(query, identity) ?? Promise.resolve(undefined)),
  artwork: agent.artwork && ((identity) => agent.artwork?.(query, identity) ?? Promise.resolve([])),
  children: agent.children && ((identity) => agent.children?.(query, identity) ?? Promise.resolve([])),
});
