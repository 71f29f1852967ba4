import { execFile } from 'node:child_process';

/**
 * Builds the parts of a cluster concurrently with other work; on a new machine this takes minutes. A failed build is
 * printed, and the tests that need it fail.
 */
export function prepareCluster(needed: boolean): () => Promise<void> {
  const script = 'root=$PWD; . hack/install.sh; prepare_for_cluster';
  const made = new Promise<void>((resolve) => {
    if (!needed) return resolve();
    execFile('bash', ['-c', script], { maxBuffer: 64 << 20 }, (error, out, errors) => {
      if (error) process.stdout.write(`The cluster could not be prepared:\n${(out + errors).slice(-4000)}\n`);
      resolve();
    });
  });
  return () => made;
}
