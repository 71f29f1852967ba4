// Files icons-<set>.zip of spec.declared: each is an icon set of that name, which holds exactly the icons of the archive.
import { createHash } from 'node:crypto';
import { type Answer, FormFile, refusalText, type SendRequest } from '../server-api/server-client.ts';
import type { ManagedBy } from '../server-environment.ts';
import { type DeclaredMap, iconSetOf, keyOf } from './files.ts';

const PATH = '/icon-sets';

interface Archive {
  where: string;
  /** Name of the set. */
  name: string;
  bytes: Buffer;
}

interface KeptSet {
  id: string;
  name: string;
  sourceSha256?: string;
  managedBy?: ManagedBy;
}

interface Outcome {
  troubles: string[];
  applied: number;
}

export interface IconsGiven {
  request: SendRequest;
  maps: readonly DeclaredMap[];
  managedBy: ManagedBy;
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function archivesOf(maps: readonly DeclaredMap[]): Archive[] {
  return maps.flatMap(({ configMap, files = {} }) =>
    Object.entries(files).flatMap(([file, content]) => {
      const name = iconSetOf(file);
      return name === undefined
        ? []
        : [{ where: `ConfigMap ${configMap}, ${file}`, name, bytes: Buffer.from(content) }];
    }),
  );
}

/** The declared icon sets of one server. */
export class DeclaredIcons {
  /** Archives with refused icons that were sent, by set and hash: they are not sent again until they change. */
  readonly #refused = new Map<string, string[]>();

  /** Sends only archives that the server does not have, and deletes sets that are no longer declared. */
  async pass(given: IconsGiven): Promise<Outcome> {
    const { request, maps, managedBy } = given;
    const archives = archivesOf(maps);
    const listed = await request('GET', PATH);
    const { items } = (listed.body ?? {}) as { items?: KeptSet[] };
    // An older server during an upgrade.
    if (listed.status === 404 && archives.length === 0) return { troubles: [], applied: 0 };
    if (listed.status !== 200 || !items) return { troubles: [refusalText(listed)], applied: 0 };
    const own = items.filter((set) => isOf(set, managedBy));
    const outcome: Outcome = { troubles: [], applied: 0 };
    for (const archive of archives) {
      const there = own.find((set) => keyOf(set.name) === archive.name);
      const troubles = await this.#apply(given, archive, there);
      outcome.troubles.push(...troubles);
      if (troubles.length === 0) outcome.applied += 1;
    }
    if (maps.every(({ files }) => files !== undefined)) {
      const gone = own.filter((set) => !archives.some(({ name }) => name === keyOf(set.name)));
      for (const set of gone) outcome.troubles.push(...(await removed(request, set)));
    }
    return outcome;
  }

  async #apply({ request, managedBy }: IconsGiven, archive: Archive, there: KeptSet | undefined): Promise<string[]> {
    const hash = hashOf(archive.bytes);
    if (there?.sourceSha256 === hash) return [];
    const known = there && this.#refused.get(`${there.id} ${hash}`);
    if (known) return known;
    if (there) return this.#send(request, archive, there);
    const made = await request('POST', PATH, { name: archive.name, managedBy });
    if (made.status >= 300) return [`${archive.where}: ${refusalText(made)}`];
    return this.#send(request, archive, made.body as KeptSet);
  }

  async #send(request: SendRequest, { where, name, bytes }: Archive, { id }: KeptSet): Promise<string[]> {
    const file = { part: 'files', name: `${name}.zip`, type: 'application/zip', bytes };
    const sent = await request('POST', `${PATH}/${id}/icons`, new FormFile({ onDuplicate: 'replace' }, file));
    const refused = refusedIn(where, sent);
    const isTransient = sent.status >= 500 || sent.status === 429;
    if (refused.length > 0 && !isTransient) this.#refused.set(`${id} ${hashOf(bytes)}`, refused);
    return refused;
  }
}

const isOf = ({ managedBy: by }: KeptSet, { kind, namespace, name }: ManagedBy): boolean =>
  by?.kind === kind && by.namespace === namespace && by.name === name;

async function removed(request: SendRequest, { id, name }: KeptSet): Promise<string[]> {
  const answer = await request('DELETE', `${PATH}/${id}`);
  if (answer.status < 300 || answer.status === 404) return [];
  return [`icon set ${name}, which is no longer declared: ${refusalText(answer)}`];
}

function refusedIn(where: string, answer: Answer): string[] {
  if (answer.status >= 300) return [`${where}: ${refusalText(answer)}`];
  const { refused = [] } = answer.body as { refused?: { name: string; reason: string }[] };
  return refused.map(({ name, reason }) => `${where}: ${name} is refused: ${reason}`);
}
