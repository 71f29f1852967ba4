import fc from 'fast-check';
import { endAll } from './stores.ts';

/** Properties are tried on the same values in each run; FOYER_SEED=… tries others. */
fc.configureGlobal({ seed: Number(process.env.FOYER_SEED ?? 20261122) });

export const mochaHooks = {
  async afterAll(): Promise<void> {
    await endAll();
  },
};
