// A client of the cluster's API server for the programs that stand in for parts of a cluster: one connection, JSON requests
// and responses.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';

interface Config {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}
export type Call = <T>(method: string, path: string, body?: object) => Promise<T>;

/** Throws on a status other than 2xx and when no response arrives within ten seconds. */
export function client(kubeconfig: string): Call {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Config;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (!cluster || !user) throw new Error(`${kubeconfig} names no cluster and user`);
  const text = (data: string) => Buffer.from(data, 'base64').toString();
  const tls = {
    ca: text(cluster['certificate-authority-data']),
    cert: text(user['client-certificate-data']),
    key: text(user['client-key-data']),
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...tls });
  return <T>(method: string, path: string, body?: object) =>
    new Promise<T>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(`${cluster.server}${path}`, { method, agent, headers, timeout: 10_000 }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const content = Buffer.concat(parts).toString();
          if ((answer.statusCode ?? 500) >= 300)
            reject(new Error(`${method} ${path}: ${answer.statusCode} ${content}`));
          else resolve(JSON.parse(content) as T);
        });
      });
      sent.on('error', reject);
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in 10 s`)));
      sent.end(body && JSON.stringify(body));
    });
}
