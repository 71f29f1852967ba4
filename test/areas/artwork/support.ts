import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { painted } from '../../workers/artwork/support.ts';

export { painted };

/** A library of films with clients of several rights. */
export interface Gallery {
  api: Api;
  admin: TestClient;
  member: TestClient;
  library: GivenLibrary;
  film(more?: Record<string, unknown>): Promise<string>;
  /** Uploads a picture and returns its image. */
  upload(itemId: string, options?: Partial<Uploading>): Promise<Uploaded>;
}

export interface Uploading {
  kind: string;
  bytes: Buffer;
  select: string;
  language: string;
}

export interface Uploaded {
  id: string;
  version: string;
  width: number;
  height: number;
  selected: boolean;
}

export function formOf({ kind = 'poster', bytes, ...more }: Partial<Uploading>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ kind, ...more })) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(bytes ?? Buffer.alloc(0))], { type: 'image/jpeg' }));
  return form;
}

export async function openGallery(): Promise<Gallery> {
  const api = await startApi();
  const admin = api.as(await api.given.owner());
  const member = api.as(await api.given.member());
  const library = await givenLibrary(api.deps.db, 'movies', { everyone: true });
  return {
    ...{ api, admin, member, library },
    film: (more) => givenItem(api.deps.db, library, more),
    async upload(itemId, options = {}) {
      const bytes = options.bytes ?? (await painted(600, 900, '#c04020'));
      const answer = await admin.uploadItemArtwork({ params: { id: itemId }, body: formOf({ ...options, bytes }) });
      if (answer.status !== 201) throw new Error(`upload: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
  };
}
