import fc from 'fast-check';
import type { Context, Suite } from 'mocha';
import { beginFile, endAll, endFile } from './stores.ts';

/** Properties are tried on the same values in each run; FOYER_SEED=… tries others. */
fc.configureGlobal({ seed: Number(process.env.FOYER_SEED ?? 20261122) });

/** mocha drops unhandled rejections, which end a process of the product: here they fail the test that runs. */
process.on('unhandledRejection', (reason) => {
  throw reason;
});

/** The last suite of each file. */
function lastOfFiles({ suites }: Suite): Suite[] {
  return [...new Map(suites.map((suite) => [suite.file, suite])).values()];
}

/** Resources that a file started end with it: five hundred of them would hold every connection that Postgres has. */
export const mochaHooks = {
  beforeAll(this: Context): void {
    beginFile();
    for (const suite of lastOfFiles(this.test?.parent as Suite))
      suite.afterAll('ends what the file started', () => endFile().finally(beginFile));
  },
  async afterAll(this: Context): Promise<void> {
    this.timeout(300_000); // a hundred databases are many files to remove
    await endAll();
  },
};
