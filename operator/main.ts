// Each command loads only what it runs: the operator of one machine needs no client of Kubernetes.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ClusterOptions } from './cluster.ts';
import { Refused } from './refused.ts';
import { endProcess } from './runtime/leave.ts';

const collect = (value: string, before: string[] = []): string[] => [...before, value];
/** In the variable they are separated by commas. */
const listed = (text: string, before: string[] = []): string[] => [...before, ...text.split(',').filter(Boolean)];

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('not a port');
  return port;
}

function workerCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 100) throw new InvalidArgumentError('not from 1 to 100');
  return count;
}

const program = new Command('operator').description('Runs Foyer from its resources.').enablePositionalOptions();
const data = () => new Option('--data <dir>', 'data directory').default('data');

program
  .command('cluster', { isDefault: true })
  .description('Reconcile the resources of a Kubernetes cluster.')
  .addOption(
    new Option('-n, --namespace <name>', 'namespace to watch; may be given more than once; none is all of them')
      .argParser(collect)
      .default([] as string[], 'all'),
  )
  .option('--kubeconfig <file>', 'kubeconfig; default: the pod, else as kubectl does')
  .option('--leader-elect', 'work only while holding the Lease foyer-operator', false)
  .option('--lease-namespace <name>', "namespace of the Lease; default: the operator's own")
  .option('--workers <number>', 'resources of a kind that are worked on at once', workerCount, 4)
  .option('--api-url <pattern>', 'where a server answers; {name} and {namespace} are filled in')
  .option('--server-metrics-url <pattern>', 'where the metrics of a server are')
  .option('--tuner-url <pattern>', 'where the pod of a tuner answers')
  .addOption(
    new Option('--cluster-network <cidr>', 'range of pods or services, which servers call for nobody; more than once')
      .env('FOYER_CLUSTER_NETWORKS')
      .argParser(listed)
      .default([] as string[], 'none'),
  )
  .option('--host <address>', 'address of the health and metrics ports', '0.0.0.0')
  .option('--health-port <number>', 'port of /healthz and /readyz; 0 takes a free one', portNumber, 8081)
  .option('--metrics-port <number>', 'port of /metrics; 0 takes a free one', portNumber, 8080)
  .action(async (options: ClusterOptions) => {
    const { runCluster } = await import('./cluster.ts');
    await endProcess(await runCluster(options));
  });

const local = program
  .command('local')
  .description('Run the resources of files on this machine.')
  .option('-f, --file <path>', 'YAML file, or folder of them; may be given more than once', collect)
  .addOption(data())
  .option('--port <number>', 'port of the server on 127.0.0.1; 0 takes a free one', portNumber, 8080)
  .option('--open-setup', 'over loopback, set up without the claim code')
  .action(async (options: { file?: string[]; data: string; port: number; openSetup?: boolean }) => {
    if (!options.file) throw new Refused('nothing to run: give -f with a file or a folder');
    const { runLocal } = await import('./local/command.ts');
    return runLocal({ ...options, file: options.file });
  });

local
  .command('status')
  .description('Show the resources and what was seen of them.')
  .addOption(data())
  .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'yaml', 'json']).default('table'))
  .action(async (options: { data: string; output: 'table' | 'yaml' | 'json' }) => {
    const { showStatus } = await import('./local/command.ts');
    showStatus(options.data, options.output);
  });

local
  .command('recover-owner')
  .description('Make a one-time link with which the owner sets a new password (24 hours).')
  .addOption(data())
  .action(async (options: { data: string }) => {
    const { recoverOwner } = await import('./local/command.ts');
    return recoverOwner(options.data);
  });

/** What a person can mend is one line: our own refusals, and what the system says of a folder or a port. */
const isPlain = (error: unknown): error is Error =>
  error instanceof Refused || (error instanceof Error && 'syscall' in error && 'code' in error);

try {
  await program.parseAsync();
} catch (error) {
  if (!isPlain(error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
