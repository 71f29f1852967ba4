// A program with the kit and one small controller: every Library of the namespace gets a ConfigMap that names its last
// writer, repeatedly. It is observed from outside at rest, when it is stopped and when it dies.
import { pino } from 'pino';
import { Credentials } from '#operator/runtime/credentials.ts';
import { after, type Controller, done } from '#operator/runtime/kube.ts';
import { Manager } from '#operator/runtime/manager.ts';

const [namespace = '', everyMs = '100'] = process.argv.slice(2);

const writer: Controller = {
  kind: 'Library',
  watches: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
  async reconcile(key, kube, now) {
    const library = kube.get('Library', key.namespace, key.name);
    if (!library) return done;
    const data = { writer: String(process.pid), at: String(now.getTime()) };
    await kube.apply(library, [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${key.name}-writer` }, data },
    ]);
    return after(Number(everyMs));
  },
};

const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const manager = new Manager({
  credentials: new Credentials(),
  controllers: [writer],
  log: pino({ level: process.env.FOYER_LOG_LEVEL ?? 'warn' }),
  namespaces: [namespace],
  election: { namespace, name: 'toy' },
});
const kept = await manager.run(stopping.signal);
process.exit(kept ? 0 : 1);
