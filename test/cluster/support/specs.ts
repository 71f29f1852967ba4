// The smallest good resource of each kind, and how one of its fields is changed.

export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec: Record<string, unknown>;
}

const apiVersion = 'foyer.media/v1alpha1';

export const mediaServer = (name: string, spec: object = {}): Resource => ({
  apiVersion,
  kind: 'MediaServer',
  metadata: { name },
  spec: {
    postgres: { managed: { storage: '1Gi' } },
    redis: { managed: {} },
    objects: { managed: { storage: '1Gi' } },
    media: [{ name: 'films', persistentVolumeClaim: { claimName: 'films' } }],
    ...spec,
  },
});

export const library = (name: string, spec: object = {}): Resource => ({
  apiVersion,
  kind: 'Library',
  metadata: { name },
  spec: { serverRef: { name: 'home' }, type: 'movies', folders: [{ media: 'films', path: '/' }], ...spec },
});

export const tunerDevice = (name: string, spec: object = {}): Resource => ({
  apiVersion,
  kind: 'TunerDevice',
  metadata: { name },
  spec: { serverRef: { name: 'home' }, source: { m3u: { url: `http://tv.example/${name}.m3u` } }, ...spec },
});

export const plurals: Record<string, string> = {
  MediaServer: 'mediaservers',
  Library: 'libraries',
  TunerDevice: 'tunerdevices',
};

type Place = Record<string, unknown>;

/** The resource with the value at a path below spec, of steps parted by `/`; undefined removes the field. */
export function withField(resource: Resource, path: string, value: unknown): Resource {
  const changed = structuredClone(resource);
  const steps = path.split('/');
  const last = steps.pop() ?? '';
  let place: Place = changed.spec;
  for (const step of steps) {
    place[step] ??= {};
    place = place[step] as Place;
  }
  if (value === undefined) delete place[last];
  else place[last] = value;
  return changed;
}

/** The path as the API server spells it. */
export const fieldPath = (path: string): string =>
  `spec${path
    .split('/')
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')}`;
