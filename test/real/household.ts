import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientFor, type TestClient } from '#support/api.ts';
import { eventually } from '#support/stores.ts';

export interface Household {
  url: string;
  folder: string;
  media: string;
  owner: TestClient;
  headers: Record<string, string>;
  /** Everything that was printed, for a failing test to show. */
  output(): string;
  stop(): Promise<void>;
}

const server = `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  api: { replicas: 1 }
  workers: { replicas: 1 }
  postgres: { managed: {} }
  redis: { managed: {} }
  objects: { managed: {} }
  media: [{ name: media, hostPath: { path: media }, readOnly: true }]
  transcode: { warm: 1, max: 1 }
`;
const library = (name: string, type: string): string => `---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: ${name.toLowerCase()} }
spec: { serverRef: { name: home }, displayName: ${name}, type: ${type}, folders: [{ media: media, path: /${name} }] }
`;

/** `operator local` over a new folder that `lay` fills, claimed and set up as its owner would by script. */
export async function startHousehold(
  libraries: Record<string, string>,
  lay: (media: string) => Promise<void>,
): Promise<Household> {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-real-'));
  chmodSync(folder, 0o711);
  const media = join(folder, 'media');
  mkdirSync(media);
  await lay(media);
  const file = join(folder, 'home.yaml');
  writeFileSync(
    file,
    server +
      Object.entries(libraries)
        .map(([name, type]) => library(name, type))
        .join(''),
  );
  const args = ['operator/main.ts', 'local', '-f', file, '--data', join(folder, 'data'), '--port', '0'];
  const operator = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [operator.stdout, operator.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
  const stop = () => stopOperator(operator, folder);
  try {
    const [, url = '', claim = ''] = await eventually(
      () => /^ready (\S+)$[\s\S]*#claim=(\S+)$/m.exec(printed) ?? undefined,
      120_000,
    );
    const headers = await setUp(url, claim);
    return { url, folder, media, headers, owner: clientFor(url, headers), output: () => printed, stop };
  } catch (error) {
    await stop();
    throw new Error(`${String(error)}\n${printed}`);
  }
}

async function stopOperator(operator: ChildProcess, folder: string): Promise<void> {
  if (operator.exitCode === null && operator.signalCode === null) {
    operator.kill('SIGTERM');
    await once(operator, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
}

const person = { username: 'ana', password: 'a good long one' };

/** Makes the owner by the claim code; the headers of a sign-in. */
export async function setUp(url: string, code: string): Promise<Record<string, string>> {
  const claimed = await clientFor(url, {}).claimServer({ body: { code } });
  const ticket = clientFor(url, { authorization: `Bearer ${claimed.body.ticket}` });
  await ticket.completeSetup({ body: person });
  return signIn(url, 'real-test-household');
}

/** The owner on a device of its own; each plays one thing at a time. */
export async function signIn(url: string, device: string): Promise<Record<string, string>> {
  const signedIn = await clientFor(url, { 'x-client-id': device }).login({ body: person });
  return { authorization: `Bearer ${signedIn.body.accessToken}`, 'x-client-id': device };
}
