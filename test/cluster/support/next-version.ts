// The product one version later: this tree with another number and migrations of both phases.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#support/stores.ts';
import { productImage } from './cluster.ts';

export const NEXT = '99.0.0';
export const ADDS = '29991231235958_next_adds';
export const DROPS = '29991231235959_next_drops_contract';

const MIGRATIONS = 'api/platform/migrations/index.ts';

/** Something that this build does not know and must live with, as after a roll-back. */
const CODE = `
migrations['${ADDS}'] = { up: async (knex) => {
  await knex.schema.alterTable('items', (table) => void table.integer('next_version').notNullable().defaultTo(1));
  await knex.schema.createTable('next_things', (table) => void table.integer('id'));
} };
migrations['${DROPS}'] = { up: (knex) => knex.schema.dropTable('next_things') };
`;

export async function nextImage(): Promise<string> {
  const tree = temporaryFolder('next');
  for (const name of ['package.json', 'package-lock.json', 'api', 'workers', 'operator'])
    cpSync(name, join(tree, name), { recursive: true });
  cpSync('web', join(tree, 'web'), { recursive: true, filter: (path) => !path.endsWith('node_modules') }); // with its build
  const change = (file: string, to: (text: string) => string): void =>
    writeFileSync(join(tree, file), to(readFileSync(join(tree, file), 'utf8')));
  change(MIGRATIONS, (text) => text + CODE);
  change('package.json', (text) => JSON.stringify({ ...(JSON.parse(text) as object), version: NEXT }, null, 2));
  return productImage(`foyer:${NEXT}`, tree);
}
