import type { Call } from '#kernel/endpoint.ts';
import type { FaultReason } from '#platform/agents/fault.ts';
import { silentAgents } from '#platform/agents/health.ts';
import { agents } from '#platform/agents/index.ts';
import { keyStates } from '#platform/agents/keys.store.ts';
import { catalogueKeyNames, catalogueKeys } from '#platform/catalogue-keys.ts';
import { spineItemTypes } from '#platform/spine/agent.ts';
import { hasPack } from '#platform/spine/packs.store.ts';
import { libraryTypes } from '../libraries.schemas.ts';
import { agentsByDefault } from '../settings.ts';
import type { MetadataAgent } from './metadata.schemas.ts';

type Static = Omit<MetadataAgent, 'available' | 'unavailableReason' | 'keys'>;

const FILE_TYPES = [
  ...['movie', 'show', 'season', 'episode', 'video', 'artist', 'album', 'track', 'photo', 'photo-album', 'author'],
  ...['book', 'audiobook', 'comic-series', 'comic', 'game', 'course', 'section', 'lesson'],
];

const local = (id: string, name: string, more: Partial<Static> = {}): Static => ({
  ...{ id, name, source: 'built-in', itemTypes: FILE_TYPES, offers: ['identify', 'metadata', 'artwork', 'people'] },
  ...more,
  offline: true,
});

/** Agents that need no network. */
const LOCAL: readonly Static[] = [
  local('nfo', 'NFO files', { itemTypes: ['movie', 'show', 'season', 'episode', 'video'] }),
  local('files', 'Files and folders'),
  local('spine', 'Identity pack', {
    itemTypes: spineItemTypes,
    offers: ['identify', 'metadata', 'people', 'missing-children'],
  }),
];

/** Types of items in a library of a type. */
const CONTENTS: Readonly<Record<string, readonly string[]>> = {
  movies: ['movie'],
  shows: ['show', 'season', 'episode'],
  videos: ['video'],
  music: ['artist', 'album', 'track'],
  photos: ['photo', 'photo-album'],
  books: ['author', 'book', 'audiobook'],
  comics: ['comic-series', 'comic'],
  games: ['game'],
  courses: ['course', 'section', 'lesson'],
  livetv: ['channel', 'program', 'recording'],
};

const WORDS: Readonly<Record<FaultReason, MetadataAgent['unavailableReason']>> = {
  disabled: 'disabled',
  'missing-key': 'missing-key',
  refused: 'missing-key',
  'rate-limited': 'rate-limited',
  unreachable: 'unreachable',
  timeout: 'unreachable',
  'invalid-answer': 'unreachable',
  redirected: 'unreachable',
};

/** Every agent with its state at the last check. No agent is queried. */
export async function listAgents(call: Call): Promise<MetadataAgent[]> {
  const { db, deps } = call;
  const states = await keyStates({ db, config: deps.config, ring: deps.keys });
  const silent = await silentAgents(deps.redis);
  const offline = deps.settings.get('network.offline');
  const mirrors = deps.settings.get('metadata.baseUrls');
  const remote = agents.map((agent): MetadataAgent => {
    const keys = keysOf(agent.id);
    const lacks = states.some(
      (one) => one.source === 'missing' && keys.some((key) => key.name === one.name && !key.optional),
    );
    const closed = offline && mirrors[agent.id] === undefined ? 'disabled' : lacks ? 'missing-key' : undefined;
    const reason = closed ?? silent.get(agent.id);
    return {
      ...{ id: agent.id, name: agent.name, source: 'built-in', homepage: agent.homepage, offline: false },
      ...{ itemTypes: [...agent.itemTypes], offers: [...agent.offers], keys },
      ...stateOf(reason && WORDS[reason]),
    };
  });
  const isLoaded = await hasPack(db);
  const own = LOCAL.map((agent) => ({
    ...{ ...agent, keys: [] },
    ...stateOf(agent.id === 'spine' && !isLoaded ? 'disabled' : undefined),
  }));
  return [...own, ...remote];
}

const stateOf = (reason: MetadataAgent['unavailableReason']) =>
  reason ? { available: false, unavailableReason: reason } : { available: true };

const keysOf = (agent: string): MetadataAgent['keys'] =>
  catalogueKeyNames.flatMap((name) => {
    const { agent: of, env, optional } = catalogueKeys[name];
    return of === agent ? [{ name, env, optional }] : [];
  });

/** Whether an agent describes items of a library of the type. */
export const describes = (agent: MetadataAgent, libraryType: string): boolean =>
  (CONTENTS[libraryType] ?? []).some((type) => agent.itemTypes.includes(type));

/** The agents of a new library by its type: those without keys, and those whose keys are present. */
export function defaultsOf(all: readonly MetadataAgent[]): Record<string, string[]> {
  const usable = new Set(all.filter(({ unavailableReason: why }) => why !== 'missing-key').map(({ id }) => id));
  return Object.fromEntries(libraryTypes.map((type) => [type, agentsByDefault(type, (id) => usable.has(id))]));
}
