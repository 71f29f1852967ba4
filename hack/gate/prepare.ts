import { execFile } from 'node:child_process';

/** Builds what a cluster needs beside other work: minutes on a new machine. What cannot be built is printed, and its tests fail. */
export function prepareCluster(needed: boolean): () => Promise<void> {
  const script = 'root=$PWD; . hack/install.sh; prepare_for_cluster';
  const made = new Promise<void>((resolve) => {
    if (!needed) return resolve();
    execFile('bash', ['-c', script], { maxBuffer: 64 << 20 }, (error, out, told) => {
      if (error) process.stdout.write(`The cluster could not be prepared:\n${(out + told).slice(-4000)}\n`);
      resolve();
    });
  });
  return () => made;
}
