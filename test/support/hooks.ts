import { endAll } from './stores.ts';

export const mochaHooks = {
  async afterAll(): Promise<void> {
    await endAll();
  },
};
