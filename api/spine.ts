// The command `foyer spine`: makes identity packs. It needs none of the stores.
import { Command } from 'commander';
import { type BuildOptions, BuildRefused, buildPack, makeKey } from '#platform/spine/build.ts';

const collect = (value: string, before: string[] = []): string[] => [...before, value];

const program = new Command('foyer');
const spine = program.command('spine').description('Make identity packs, which name works without the internet.');

spine
  .command('key')
  .description('Make a key that signs packs, and print what a server has to trust.')
  .argument('<file>', 'new file of the private key')
  .action((file: string) => makeKey(file));

spine
  .command('build')
  .description('Make a pack of works as JSON lines.')
  .argument('<input...>', 'files with one work a line; - reads standard input')
  .requiredOption('-o, --output <file>', 'file of the pack')
  .requiredOption('--name <name>', 'name of the pack; a newer version replaces the one of its name')
  .requiredOption('--pack-version <version>', 'YYYY.MM.n')
  .requiredOption('--key <file>', 'private key of Ed25519 in PEM')
  .option('--key-name <name>', 'name of the signer', 'own')
  .option('--source <name:day>', 'dump that the works come from, such as wikidata:2026-11-01; repeatable', collect, [])
  .option('--language <code>', 'language of the titles; repeatable', collect, [])
  .option('--built-at <time>', 'time in the manifest, for equal bytes of equal input; default: now')
  .option('--since <file>', 'older pack of the name: make a delta from it')
  .action((input: string[], options: Omit<BuildOptions, 'input'>) => buildPack({ ...options, input }));

/** Errors that the user can fix are printed as one line: our own refusals, and system errors of files. */
const isPlain = (error: unknown): error is Error =>
  error instanceof BuildRefused || (error instanceof Error && 'syscall' in error && 'code' in error);

try {
  await program.parseAsync();
} catch (error) {
  if (!isPlain(error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
