// Enforces NetworkPolicies, as the network of a cluster does: nftables rules for the pods of the one node.
//   node policies.ts KUBECONFIG LINK      in the cluster's network namespace; LINK leads to the machine
// It lists three times a second: on a cluster of one machine this is simpler than watches.
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, client } from './client.ts';
import { type Namespace, type Pod, type Policy, rulesOf } from './policy-rules.ts';

const PERIOD_MS = 300;
let inForce = '';

async function look(call: Call, link: string): Promise<void> {
  const list = async <T>(path: string): Promise<T[]> =>
    (await call<{ items: T[] }>('GET', `${path}?resourceVersion=0`)).items;
  const policies = await list<Policy>('/apis/networking.k8s.io/v1/networkpolicies');
  const pods = await list<Pod>('/api/v1/pods');
  const namespaces = await list<Namespace>('/api/v1/namespaces');
  const rules = rulesOf({ policies, pods, namespaces }, link);
  if (rules === inForce) return;
  const { status, stderr } = spawnSync('nft', ['-f', '-'], { input: rules, encoding: 'utf8' });
  if (status !== 0) throw new Error(`nft: ${stderr}\n${rules}`);
  inForce = rules;
}

const [kubeconfig = '', link = ''] = process.argv.slice(2);
const call = client(kubeconfig);
for (;;) {
  await look(call, link).catch((error: Error) => process.stderr.write(`${error.message}\n`));
  await sleep(PERIOD_MS);
}
