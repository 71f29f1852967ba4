#!/usr/bin/env node
// kubectl-mediaserver: `kubectl mediaserver …`, with the user's kubeconfig.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Stored } from '../local/status-file.ts';
import { type Format, printStatus } from '../status-print.ts';
import { gather, SECRETS, UNREDACTED, writeBundle } from './bundle.ts';
import { Cluster, type ClusterOptions, deniedWords, Refused, wordsOf } from './cluster.ts';
import { diagnose, printFindings } from './doctor.ts';
import { printLogs } from './logs.ts';
import { forwardApi, publicAddress, setupLink } from './open.ts';
import { serverOf, takeSnapshot } from './snapshot.ts';

const program = new Command('kubectl-mediaserver')
  .description('Inspects the Foyer media servers of a cluster.')
  .option('-n, --namespace <name>', "namespace; default: the context's")
  .option('--context <name>', 'context of the kubeconfig')
  .option('--kubeconfig <file>', 'kubeconfig; default: KUBECONFIG, or ~/.kube/config');

/** A parser for whole numbers from 0. */
function upTo(most: number): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) > most) throw new InvalidArgumentError(`not a number from 0 to ${most}`);
    return Number(text);
  };
}

const cluster = (): Cluster => new Cluster(program.opts<ClusterOptions>());
const warn = (text: string): void => void process.stderr.write(`${text}\n`);
const say = (text: string): void => void process.stdout.write(text);

async function find(reader: Cluster, name?: string) {
  const servers = await listed(reader, 'MediaServer');
  return serverOf({ servers, namespace: reader.namespace }, name);
}

/** Throws when the permission is missing, which is different from an empty list. */
async function listed(reader: Cluster, kind: string) {
  const found = await reader.foyer(kind);
  reader.insist();
  if (!found)
    throw new Refused(`the cluster does not know ${kind}: kubectl apply --server-side -f manifests/install.yaml`);
  return found;
}

program
  .command('status')
  .description('Show servers, libraries and tuners, and their problems.')
  .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'yaml', 'json']).default('table'))
  .action(async ({ output }: { output: Format }) => {
    const reader = cluster();
    const lists = await Promise.all(['MediaServer', 'Library', 'TunerDevice'].map((kind) => listed(reader, kind)));
    const items = lists.flat().map((item) => ({ status: {}, ...item }) as unknown as Stored);
    say(printStatus(items, output));
  });

program
  .command('open [server]')
  .description('Forward a port of this machine to the server, and print its local URL and its public one.')
  .option('-p, --port <number>', 'local port; 0 selects a free one', upTo(65_535), 8080)
  .action(async (name: string | undefined, { port }: { port: number }) => {
    const reader = cluster();
    const server = await find(reader, name);
    const base = await forwardApi(reader, server, port);
    const link = await setupLink(reader, server, base);
    const there = publicAddress(server);
    say(`${base}\n${link ? `setup ${link}\n` : ''}${there ? `public ${there}\n` : ''}`);
    if (reader.denied.size > 0) warn(`${deniedWords(reader.denied)}: the setup link is not shown`);
  });

program
  .command('doctor')
  .description('Find problems of the servers of the namespace, with advice. Exits with status 1 if it finds a fault.')
  .action(async () => {
    const findings = diagnose(await takeSnapshot(cluster()));
    say(printFindings(findings));
    if (findings.some(({ state }) => state === 'fault')) process.exitCode = 1;
  });

program
  .command('logs [server] [component]')
  .description('Print the logs of a server: all of it, or api, workers, transcode, postgres …')
  .option('-f, --follow', 'stream new lines')
  .option('--previous', 'of the previous containers')
  .option('--tail <lines>', 'of each container', upTo(1_000_000), 200)
  .action(async (name: string | undefined, component: string | undefined, options: { tail: number }) => {
    const reader = cluster();
    const server = await find(reader, name);
    await printLogs(reader, server, component ? { ...options, component } : options);
  });

program
  .command('support-bundle')
  .description('Write resources, events and logs, without secrets, into one archive.')
  .option('-o, --output <file>', 'archive', 'support-bundle.tar.gz')
  .action(async ({ output }: { output: string }) => {
    const reader = cluster();
    const files = await gather(reader, await takeSnapshot(reader));
    await writeBundle(files, output);
    say(`${output}: ${files.size} files\n`);
    if (reader.denied.size > 0) warn(`not in it: ${deniedWords(reader.denied)}`);
    if (!files.has(SECRETS)) warn(UNREDACTED);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${wordsOf(error as Error)}\n`);
  process.exitCode = 1;
}
