// Checks that the schemas cannot express: references between resources, and limits of one machine.
import type { z } from 'zod';
import { verifierFault } from '../plus-environment.ts';
import { keysWanted, referencesIn } from '../references.ts';
import { kinds } from '../schemas/kinds.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { isSchedule } from '../tuner-device/verdicts.ts';
import { type Problem, type SourceDocument, UNIDENTIFIED } from './documents.ts';
import { textsOf } from './environment.ts';
import { problemAt, type Resource, type Resources } from './resources.ts';

/** Specs in force by kind and name, for fields that cannot be changed. */
export type InForce = ReadonlyMap<string, unknown>;

export function checkResources(resources: Resources, inForce: InForce): Problem[] {
  const all = [...resources.servers, ...resources.libraries, ...resources.tuners];
  return [
    ...oneServer(resources),
    ...resources.servers.flatMap(localOnly),
    ...resources.servers.flatMap((server) => licensing(server, resources)),
    ...resources.libraries.flatMap((library) => libraryReferences(library, resources)),
    ...resources.tuners.flatMap((tuner) => tunerReferences(tuner, resources)),
    ...all.flatMap((resource) => references(resource, resources)),
    ...all.flatMap((resource) => unchanged(resource, inForce)),
  ];
}

function oneServer({ servers, declared }: Resources): Problem[] {
  const broken = [...declared].some((key) => key === UNIDENTIFIED || key.startsWith('MediaServer/'));
  if (servers.length === 0)
    return broken ? [] : [{ file: '-f', line: 0, path: '', message: 'no MediaServer is given' }];
  return servers
    .slice(1)
    .map((server) => problemAt(server.source, ['kind'], 'a second MediaServer; one machine runs one'));
}

function localOnly({ spec, source }: Resources['servers'][number]): Problem[] {
  const problems = spec.media.flatMap((media, index) =>
    media.hostPath || media.s3
      ? []
      : [problemAt(source, ['spec', 'media', index], 'one machine mounts nothing: use hostPath with a folder, or s3')],
  );
  if (spec.postgres.cloudNativePG)
    problems.push(
      problemAt(source, ['spec', 'postgres', 'cloudNativePG'], 'needs a cluster: use managed or secretRef'),
    );
  return [...problems, ...modelOnDisk(spec, source)];
}

function modelOnDisk({ subtitles }: MediaServerSpec, source: SourceDocument): Problem[] {
  const at = ['spec', 'subtitles'];
  if (subtitles?.modelObjects)
    return [problemAt(source, [...at, 'modelObjects'], 'needs a cluster: use modelVolume with a hostPath')];
  if (!subtitles?.modelVolume || subtitles.modelVolume.hostPath) return [];
  return [problemAt(source, [...at, 'modelVolume'], 'one machine mounts nothing: use hostPath with a folder')];
}

function licensing({ spec, source }: Resources['servers'][number], resources: Resources): Problem[] {
  const fault = verifierFault(spec, textsOf(resources));
  return fault === undefined ? [] : [problemAt(source, ['spec', 'plus', 'verifierKeys'], fault)];
}

function libraryReferences({ spec, source }: Resources['libraries'][number], resources: Resources): Problem[] {
  const server = serverOf(spec.serverRef.name, resources);
  if (!server) return noServer(source, spec.serverRef.name, resources);
  const media = new Set(server.spec.media.map(({ name }) => name));
  return spec.folders.flatMap((folder, index) => {
    const path = ['spec', 'folders', index, 'media'];
    return media.has(folder.media) ? [] : [problemAt(source, path, missing(folder.media, server.name, media))];
  });
}

/** A document that cannot be read may declare any resource. */
const mayBeThere = (declared: ReadonlySet<string>, key: string): boolean =>
  declared.has(key) || declared.has(UNIDENTIFIED);

const serverOf = (name: string, { servers }: Resources) => servers.find((server) => server.name === name);

function noServer(source: SourceDocument, name: string, { declared }: Resources): Problem[] {
  if (mayBeThere(declared, `MediaServer/${name}`)) return [];
  return [problemAt(source, ['spec', 'serverRef', 'name'], `no MediaServer ${name}`)];
}

const missing = (name: string, server: string, media: ReadonlySet<string>): string =>
  `no media ${name} in the MediaServer ${server} (it has ${[...media].join(', ') || 'none'})`;

function tunerReferences(tuner: Resources['tuners'][number], resources: Resources): Problem[] {
  const { spec, source } = tuner;
  const server = serverOf(spec.serverRef.name, resources);
  const wrong = spec.guide && !isSchedule(spec.guide.refresh);
  const never = problemAt(source, ['spec', 'guide', 'refresh'], 'not a five-field schedule with a next time');
  const unknown = server ? recordingsOf(tuner, server) : noServer(source, spec.serverRef.name, resources);
  return [...unknown, ...(wrong ? [never] : [])];
}

function recordingsOf({ spec, source }: Resources['tuners'][number], server: Resources['servers'][number]): Problem[] {
  if (!spec.recordings) return [];
  const path = ['spec', 'recordings', 'media'];
  const entry = server.spec.media.find(({ name }) => name === spec.recordings?.media);
  if (entry?.s3) return [problemAt(source, path, `media ${entry.name} is a bucket: recordings need a folder`)];
  if (entry) return entry.readOnly ? [problemAt(source, path, `media ${entry.name} is readOnly`)] : [];
  const names = new Set(server.spec.media.map(({ name }) => name));
  return [problemAt(source, path, missing(spec.recordings.media, server.name, names))];
}

function references({ spec, source }: Resource<unknown>, { secrets, configMaps, declared }: Resources): Problem[] {
  return referencesIn(spec, ['spec']).flatMap((reference) => {
    const { path, of, name } = reference;
    const values = (of === 'Secret' ? secrets : configMaps).get(name);
    if (!values && mayBeThere(declared, `${of}/${name}`)) return [];
    if (!values) return [problemAt(source, [...path, 'name'], `no ${of} ${name}`)];
    const absent = keysWanted(reference).filter((entry) => values[entry] === undefined);
    return absent.map((entry) => problemAt(source, path, `the ${of} ${name} has no key ${entry}`));
  });
}

function unchanged({ kind, name, spec, source }: Resource<unknown>, inForce: InForce): Problem[] {
  const before = inForce.get(`${kind}/${name}`);
  const schema = kinds.find((entry) => entry.kind === kind)?.spec as z.ZodObject | undefined;
  if (before === undefined || !schema) return [];
  const fixed = Object.keys(schema.shape).filter((field) => schema.shape[field]?.meta()?.immutable);
  const changed = fixed.filter(
    (field) => JSON.stringify(member(before, field)) !== JSON.stringify(member(spec, field)),
  );
  const problems = changed.map((field) => problemAt(source, ['spec', field], 'cannot be changed'));
  const source0 = member(before, 'source');
  if (kind === 'TunerDevice' && 'm3u' in Object(source0) !== 'm3u' in Object(member(spec, 'source')))
    problems.push(problemAt(source, ['spec', 'source'], 'the kind of source cannot be changed'));
  return problems;
}

const member = (value: unknown, field: string): unknown => (value as Record<string, unknown>)[field];
