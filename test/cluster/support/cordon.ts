// Keeps pods off the nodes that run them, while a hollow one plays their part.
import type { Kubectl } from './kubectl.ts';

interface Node {
  metadata: { name: string };
  spec: { unschedulable?: boolean };
}

/** All nodes but the hollow one; the returned function reverts it. */
export async function cordoned(kubectl: Kubectl): Promise<() => Promise<void>> {
  const nodes = await kubectl.list<Node>('nodes');
  const taking = nodes.filter(({ metadata, spec }) => metadata.name !== 'hollow' && !spec.unschedulable);
  const names = taking.map(({ metadata }) => metadata.name);
  for (const name of names) await kubectl.run(['cordon', name]);
  return async () => {
    for (const name of names) await kubectl.run(['uncordon', name]);
  };
}
