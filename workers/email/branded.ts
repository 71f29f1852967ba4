import type { Deps } from '#kernel/endpoint.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import type { Keys } from '#platform/keys.ts';
import { createPictures } from '#platform/pictures.ts';
import type { Work, WorkerDeps } from '../work.ts';

const never = new AbortController().signal;
let made: { settings: WorkerDeps['settings']; deps: Deps } | undefined;

/** Dependencies of Branding, created once in a process with the stores of the worker. */
export function brandedDeps({ config, db, redis, objects, settings, log }: Work, keys: Keys): Deps {
  if (made?.settings === settings) return made.deps;
  const nothing = (): void => undefined;
  const deps: Deps = {
    ...{ config, db, redis, objects, settings, log, keys, draining: never },
    vitals: {
      state: () => 'ok',
      cutOff: () => false,
      stoodStill: () => false,
      databaseReached: () => true,
      schemaCurrent: () => true,
      setupComplete: async () => true,
      look: async () => undefined,
      stop: nothing,
    },
    pictures: createPictures(config.parserUrl),
    catalogues: new Catalogues({ config, db, redis, settings, log }),
    keyUses: { note: nothing, flush: async () => undefined, stop: nothing },
  };
  made = { settings, deps };
  return deps;
}
