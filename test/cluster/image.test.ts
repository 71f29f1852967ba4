// hack/image (without Docker) and manifests/image/Dockerfile (with it) make the same image.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PROGRAM } from '../../hack/manifests/operator.ts';
import { defaults } from '../../hack/manifests/values.ts';

interface Product {
  user: string;
  workdir: string;
  env: Record<string, string>;
  entrypoint: string[];
  cmd: string[];
  ports: number[];
  copy: string[];
  without: string[];
  packages: string[];
}

const product = JSON.parse(readFileSync('hack/images/product.json', 'utf8')) as Product;
const text = readFileSync('manifests/image/Dockerfile', 'utf8').replaceAll(/\\\n\s*/g, ' ');
const stages = text.split(/^FROM /m).slice(1);
const [modules = '', last = ''] = stages;

/** The rest of each line of one instruction. */
function instructionsOf(stage: string, instruction: string): string[] {
  const lines = stage.split('\n').filter((line) => line.startsWith(`${instruction} `));
  return lines.map((line) => line.slice(instruction.length + 1).trim());
}

describe('the Dockerfile and hack/image', () => {
  it('agree on user, folder, environment, ports and command', () => {
    expect(instructionsOf(last, 'USER')).to.deep.equal([product.user]);
    expect(instructionsOf(last, 'WORKDIR')).to.deep.equal([product.workdir]);
    expect(instructionsOf(last, 'ENTRYPOINT').map((words) => JSON.parse(words))).to.deep.equal([product.entrypoint]);
    expect(instructionsOf(last, 'CMD').map((words) => JSON.parse(words))).to.deep.equal([product.cmd]);
    expect(instructionsOf(last, 'EXPOSE')).to.deep.equal([product.ports.join(' ')]);
    expect(instructionsOf(last, 'ENV').sort()).to.deep.equal(
      Object.entries(product.env)
        .map((pair) => pair.join('='))
        .sort(),
    );
  });

  it('copy the same folders, each to its own name, those with programs after these were bundled', () => {
    const [bundle, ...others] = instructionsOf(last, 'COPY')
      .filter((words) => !words.endsWith(' node_modules'))
      .reverse();
    expect(bundle).to.equal('--from=modules /app/bundle bundle');
    const wanted = product.copy.map((name) =>
      name === 'package.json' ? 'package.json ./' : `--from=modules /app/${name} ${name}`,
    );
    expect(others.reverse()).to.deep.equal(wanted);
    expect(instructionsOf(last, 'COPY')).to.include('--from=modules /app/node_modules node_modules');
  });

  it("bundle the same programs, of which the operator's Deployment runs one by its bundle", () => {
    const brought = instructionsOf(modules, 'COPY').map((words) => words.split(' ')[0]);
    expect(brought).to.include.members(product.copy.map((name) => (name === 'web/build' ? 'web' : name)));
    expect(instructionsOf(modules, 'RUN')[2]).to.include('vite.js build');
    expect(instructionsOf(modules, 'RUN')[1]).to.equal(
      'node hack/bundle.ts . && npm prune --omit=dev --ignore-scripts',
    );
    expect(readFileSync('hack/images/product.sh', 'utf8')).to.include('node "$root/hack/bundle.ts" "$1/app"');
    expect(PROGRAM).to.include('operator/bundle/main.js');
  });

  it('leave out the same modules and take the same packages of Debian', () => {
    const removed = instructionsOf(modules, 'RUN').at(-1)?.split('rm -rf ')[1]?.split(' ');
    expect(removed).to.deep.equal(product.without.map((name) => `node_modules/${name}`));
    const installed = instructionsOf(last, 'RUN')[0]?.split('--no-install-recommends ')[1]?.split(' &&')[0]?.split(' ');
    expect(installed?.filter(Boolean)).to.deep.equal(product.packages);
  });

  it('have the Node of package.json in both stages', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: { node: string } };
    for (const stage of stages) expect(stage.split(/[\s]/)[0]).to.equal(`node:${dependencies.node}-bookworm-slim`);
  });

  it('copy every folder that the programs import from', () => {
    const { imports } = JSON.parse(readFileSync('package.json', 'utf8')) as { imports: Record<string, string> };
    const roots = Object.values(imports).map((path) => path.split('/')[1] ?? '');
    expect(product.copy).to.include.members(roots.filter((root) => root !== 'test'));
    expect(readdirSync('.')).to.include.members(product.copy.map((name) => name.split('/')[0]));
  });
});

describe('the Dockerfile of the speech workers and hack/image', () => {
  const speech = readFileSync('manifests/image/subtitles.Dockerfile', 'utf8').replaceAll(/\\\n\s*/g, ' ');
  const [, python = '', own = ''] = speech.split(/^FROM /m);

  it('install the same Python packages as hack/start', () => {
    const packages = /^speech_packages=\((.*)\)$/m.exec(readFileSync('hack/speech.sh', 'utf8'))?.[1]?.split(' ') ?? [];
    expect(packages).to.have.length(2);
    for (const name of packages) expect(python).to.include(` ${name} `);
  });

  it('are the image of the product with Python at the same path, for the same user', () => {
    expect(own).to.match(/^\$\{PRODUCT\}/);
    expect(python).to.match(new RegExp(`^${stages[0]?.split(/\s/)[0]} `));
    expect(instructionsOf(own, 'USER').at(-1)).to.equal(product.user);
    const [variable] = instructionsOf(own, 'ENV');
    expect(variable).to.equal('FOYER_SUBTITLES_PYTHON=/opt/speech/bin/python3');
    const [name, path] = variable?.split('=') ?? [];
    expect(readFileSync('hack/images/subtitles.sh', 'utf8')).to.include(`${name}: "${path}"`);
  });
});

describe('the lock file', () => {
  it('has for arm64 the packages of amd64, of the same version', () => {
    const lock = readFileSync('package-lock.json', 'utf8');
    const { packages } = JSON.parse(lock) as {
      packages: Record<string, { version: string; dev?: boolean; cpu?: string[]; os?: string[] }>;
    };
    const native = Object.entries(packages).filter(
      ([, { dev, cpu, os }]) => !dev && cpu?.includes('x64') && os?.includes('linux'),
    );
    expect(native.length).to.be.greaterThan(3);
    for (const [path, { version }] of native)
      expect(packages[path.replaceAll('x64', 'arm64')]?.version, path).to.equal(version);
  });
});

describe('the README', () => {
  const readme = readFileSync('README.md', 'utf8');

  it('builds the image of this version, and puts its registry wherever install.yaml names it', () => {
    expect(readme).to.include(`docker build -f manifests/image/Dockerfile -t REGISTRY/${defaults.image} .`);
    const [, found = ''] = /sed 's#([^#]+)#REGISTRY\/&#' manifests\/install\.yaml/.exec(readme) ?? [];
    expect(found).to.equal(defaults.image);
    const lines = readFileSync('manifests/install.yaml', 'utf8').split('\n');
    const named = lines.filter((line) => new RegExp(found).test(line)).map((line) => line.trim());
    expect(named).to.deep.equal([`image: ${defaults.image}`, `value: ${defaults.image}`]);
  });

  it('has every file that it names', () => {
    const files = [...readme.matchAll(/(?:hack|manifests|crds)\/[\w./-]*\w/g)].map(([path]) => path);
    for (const path of files.filter((one) => !readme.includes(`${one}-*`)))
      expect(existsSync(path), path).to.equal(true);
  });
});
