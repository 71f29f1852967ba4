// `choose DATA MEDIA` prints the folder that `hack/start` without -f serves. `write DATA MEDIA FOLDER` writes DATA/home.yaml for it
// and prints its path: the MediaServer of the sample with one media folder, and a Library for each sub-folder named after a type.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { holderOf } from '#operator/local/lock.ts';

const SAMPLE = new URL('../manifests/samples/home.yaml', import.meta.url);
const HEADER = '# Made by hack/start from the folders that it found. To change more, copy it and start with -f.\n';

const words: Record<string, string> = {
  movies: 'movies movie films film filme cinema',
  shows: 'shows show tv tvshows series serien',
  videos: 'videos homevideos clips',
  music: 'music musik albums',
  photos: 'photos pictures bilder',
  books: 'books audiobooks ebooks',
  comics: 'comics manga',
  games: 'games roms',
  courses: 'courses',
};

/** The library type that a folder is named after, if any. */
export function typeOf(folder: string): string | undefined {
  const word = folder.toLowerCase().replaceAll(/[^a-z]/g, '');
  return Object.keys(words).find((type) => words[type]?.split(' ').includes(word));
}

interface Library {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: object;
}

/** A Library for each sub-folder that is named after a type. */
export function librariesOf(media: string): Library[] {
  if (!existsSync(media)) return []; // a disk that is not mounted
  const folders = readdirSync(media, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => libraryOf(name, `/${name}`, typeOf(name)));
}

function libraryOf(name: string, path: string, type: string | undefined): Library[] {
  if (type === undefined) return [];
  const displayName = name.slice(0, 1).toUpperCase() + name.slice(1);
  return [
    {
      apiVersion: 'foyer.media/v1alpha1',
      kind: 'Library',
      metadata: { name: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') },
      spec: { serverRef: { name: 'home' }, displayName, type, folders: [{ media: 'media', path }] },
    },
  ];
}

/** A library stays while its folder is missing: the disk may not be mounted. */
export function homeText(media: string, before: string): string {
  const server = parse(readFileSync(SAMPLE, 'utf8')) as Server;
  const { annotations } = serverIn(before)?.metadata ?? {};
  if (annotations) server.metadata.annotations = annotations; // answers of people to questions of the start
  server.spec.media = [{ name: 'media', hostPath: { path: media }, readOnly: true }];
  const mark = `# Media folder: ${JSON.stringify(media)}`;
  const found = librariesOf(media);
  const gone = (before.includes(mark) ? librariesIn(before) : []).filter(
    (library) => !found.some(({ metadata }) => metadata.name === library.metadata.name),
  );
  const listed = [...found, ...gone];
  const libraries = listed.length > 0 ? listed : libraryOf('media', '/', 'movies');
  return `${HEADER}${mark}\n${[server, ...libraries].map((entry) => stringify(entry)).join('---\n')}`;
}

interface Server {
  kind: string;
  metadata: { annotations?: Record<string, string> };
  spec: { media: unknown };
}

const documentsIn = (text: string): (Library | Server | null)[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Library | Server | null);
const librariesIn = (text: string): Library[] =>
  documentsIn(text).filter((entry): entry is Library => entry?.kind === 'Library');
const serverIn = (text: string): Server | undefined =>
  documentsIn(text).find((entry): entry is Server => entry?.kind === 'MediaServer');

/** The folder that the file names. */
function mediaIn(text: string): string | undefined {
  const named = /^# Media folder: (".*")$/m.exec(text)?.[1];
  return named === undefined ? undefined : (JSON.parse(named) as string);
}

export interface Places {
  /** The value of `$FOYER_MEDIA`. */
  requested: string | undefined;
  /** `./media` of the clone. */
  own: string;
  /** The library that hack/demo makes. */
  demo: string;
}

/** The folder to serve: `$FOYER_MEDIA`, otherwise the folder of the previous start, otherwise `./media` if it has files, otherwise the demo. */
export function mediaOf({ requested, own, demo }: Places, before: string): string {
  if (requested) return requested;
  const last = mediaIn(before);
  const kept = last === demo ? undefined : last;
  if (kept !== undefined && existsSync(kept)) return kept;
  const filled = existsSync(own) && readdirSync(own).some((name) => !name.startsWith('.'));
  return filled ? own : (kept ?? demo);
}

if (import.meta.main) {
  const [step, data = 'data', own = 'media', media = 'media'] = process.argv.slice(2);
  const file = join(data, 'home.yaml');
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (step === 'choose') {
    process.stdout.write(mediaOf({ requested: process.env.FOYER_MEDIA, own, demo: join(data, 'demo') }, before));
  } else {
    // A running server on this data reads the file, and will refuse this start: leave the file unchanged.
    const text = holderOf(data) ? before : homeText(media, before);
    if (text !== before) writeFileSync(file, text);
    process.stdout.write(file);
  }
}
