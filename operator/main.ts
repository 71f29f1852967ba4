// Each command loads only its own code: `operator local` needs no Kubernetes client.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ClusterOptions } from './cluster.ts';
import { Refused } from './refused.ts';
import { endProcess } from './runtime/leave.ts';

const collect = (value: string, before: string[] = []): string[] => [...before, value];
/** The environment variable separates them by commas. */
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
    new Option('-n, --namespace <name>', 'namespace to watch; repeatable; default: all namespaces')
      .argParser(collect)
      .default([] as string[], 'all'),
  )
  .option('--kubeconfig <file>', 'kubeconfig; default: the pod, else as kubectl does')
  .option('--leader-elect', 'work only while holding the Lease foyer-operator', false)
  .option('--lease-namespace <name>', "namespace of the Lease; default: the operator's own")
  .option('--workers <number>', 'concurrent passes per kind', workerCount, 4)
  .option('--api-url <pattern>', 'URL of a server; {name} and {namespace} are substituted')
  .option('--server-metrics-url <pattern>', 'URL of the metrics of a server')
  .option('--tuner-url <pattern>', 'URL of the pod of a tuner')
  .addOption(
    new Option(
      '--cluster-network <cidr>',
      'range of pods or services, which servers do not call on behalf of users; repeatable',
    )
      .env('FOYER_CLUSTER_NETWORKS')
      .argParser(listed)
      .default([] as string[], 'none'),
  )
  .option('--host <address>', 'address of the health and metrics ports', '0.0.0.0')
  .option('--health-port <number>', 'port of /healthz and /readyz; 0 selects a free one', portNumber, 8081)
  .option('--metrics-port <number>', 'port of /metrics; 0 selects a free one', portNumber, 8080)
  .action(async (options: ClusterOptions) => {
    const { runCluster } = await import('./cluster.ts');
    await endProcess(await runCluster(options));
  });

const local = program
  .command('local')
  .description('Run the resources of files on this machine.')
  .option('-f, --file <path>', 'YAML file, or a folder with YAML files; repeatable', collect)
  .addOption(data())
  .option('--port <number>', 'port of the server on 127.0.0.1; 0 selects a free one', portNumber, 8080)
  .option('--open-setup', 'allow the setup over loopback without the claim code')
  .option('--browser', 'open the server in the browser of the desktop once it is ready')
  .action(async (options: { file?: string[]; data: string; port: number; openSetup?: boolean; browser?: boolean }) => {
    if (!options.file) throw new Refused('no resources: use -f with a file or a folder');
    const { runLocal } = await import('./local/command.ts');
    return runLocal({ ...options, file: options.file });
  });

local
  .command('status')
  .description('Show the resources and their observed state.')
  .addOption(data())
  .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'yaml', 'json']).default('table'))
  .action(async (options: { data: string; output: 'table' | 'yaml' | 'json' }) => {
    const { showStatus } = await import('./local/command.ts');
    showStatus(options.data, options.output);
  });

local
  .command('recover-owner')
  .description('Create a one-time link to set a new password of the owner (24 hours).')
  .addOption(data())
  .action(async (options: { data: string }) => {
    const { recoverOwner } = await import('./local/command.ts');
    return recoverOwner(options.data);
  });

/** Errors that the user can fix are printed as one line: our own refusals, and system errors of files and ports. */
const isPlain = (error: unknown): error is Error =>
  error instanceof Refused || (error instanceof Error && 'syscall' in error && 'code' in error);

try {
  await program.parseAsync();
} catch (error) {
  if (!isPlain(error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
