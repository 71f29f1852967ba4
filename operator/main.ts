import { Command, InvalidArgumentError, Option } from 'commander';
import { Refused, recoverOwner, runLocal, showStatus } from './local/command.ts';

const collect = (value: string, before: string[] = []): string[] => [...before, value];

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('not a port');
  return port;
}

const program = new Command('operator').description('Runs Foyer from its resources.').enablePositionalOptions();
const data = () => new Option('--data <dir>', 'data directory').default('data');

const local = program
  .command('local')
  .description('Run the resources of files on this machine.')
  .option('-f, --file <path>', 'YAML file, or folder of them; may be given more than once', collect)
  .addOption(data())
  .option('--port <number>', 'port of the server on 127.0.0.1; 0 takes a free one', portNumber, 8080)
  .option('--open-setup', 'over loopback, set up without the claim code')
  .action((options: { file?: string[]; data: string; port: number; openSetup?: boolean }) => {
    if (!options.file) throw new Refused('nothing to run: give -f with a file or a folder');
    return runLocal({ ...options, file: options.file });
  });

local
  .command('status')
  .description('Show the resources and what was seen of them.')
  .addOption(data())
  .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'yaml', 'json']).default('table'))
  .action((options: { data: string; output: 'table' | 'yaml' | 'json' }) => showStatus(options.data, options.output));

local
  .command('recover-owner')
  .description('Make a one-time link with which the owner sets a new password (24 hours).')
  .addOption(data())
  .action((options: { data: string }) => recoverOwner(options.data));

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
