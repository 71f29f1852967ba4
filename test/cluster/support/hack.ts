import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The path of a program that hack/install.sh builds from its Go module, built where it is not there yet. */
export async function goTool(name: 'helm' | 'minio' | 'kstatus'): Promise<string> {
  const script = `root=$PWD; . hack/install.sh; go_tool ${name}`;
  return (await run('bash', ['-c', script])).stdout.trim();
}

/** The path of the definition of a kind that another operator brings. */
export async function definitionOf(kind: string): Promise<string> {
  const script = `root=$PWD; . hack/install.sh; definition_of ${kind}`;
  return (await run('bash', ['-c', script])).stdout.trim();
}

/** The output of a program; throws its standard error. */
export function printed(program: string, words: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words);
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (part: Buffer) => out.push(part));
    child.stderr.on('data', (part: Buffer) => err.push(part));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0
        ? resolve(Buffer.concat(out).toString())
        : reject(new Error(`${program} ${words.join(' ')}: ${Buffer.concat(err).toString().trim()}`)),
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
