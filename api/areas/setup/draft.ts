import { isDeepStrictEqual } from 'node:util';
import { tidyPath } from '#areas/libraries/public.ts';
import { isFolder, placeInStorage } from '#areas/storage/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, type Issue, invalidAll } from '#kernel/errors.ts';
import { definitionOf, type SettingKey } from '#platform/settings.ts';
import type { SetupDraft } from './setup.schemas.ts';
import { declaredLibraries } from './state.store.ts';

/** 400 with all issues at once, by the rules of the areas: folders exist below their root and overlap with no other library. */
export async function refuseBadDraft(call: Call, draft: SetupDraft, at: string[] = ['body']): Promise<void> {
  const issues = settingIssues(draft, at);
  const declared = await declaredLibraries(call.db);
  const taken = declared.flatMap(({ folders }) => folders);
  const again = new Set(declared.map(({ name }) => name.toLowerCase())); // exist already; the draft may list them
  for (const [i, library] of draft.libraries.entries()) {
    if (again.has(library.name.toLowerCase())) continue;
    for (const [j, folder] of library.folders.entries()) {
      const path = tidyPath(folder.path);
      const issue =
        (await folderIssue(call, folder.rootId, path)) ?? overlapIssue(taken, { rootId: folder.rootId, path });
      if (issue) issues.push({ path: [...at, 'libraries', i, 'folders', j, 'path'], ...issue });
      taken.push({ rootId: folder.rootId, path });
    }
  }
  const names = draft.libraries.map((library) => library.name.toLowerCase());
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) !== i)
      issues.push({ path: [...at, 'libraries', i, 'name'], code: 'duplicate_name', message: 'named twice' });
  }
  if (issues.length > 0) throw invalidAll(issues);
  refuseManagedSettings(call, draft);
}

/** Issues by the schemas of the settings. */
function settingIssues(draft: SetupDraft, at: string[]): Issue[] {
  return Object.entries(settingsOf(draft)).flatMap(([key, value]): Issue[] => {
    const { error } = definitionOf(key as SettingKey).schema.safeParse(value);
    if (!error) return [];
    const path = key in (draft.settings ?? {}) ? ['settings', key] : [key.slice(key.indexOf('.') + 1)];
    const named = path[0] === 'name' ? ['serverName'] : path;
    return error.issues.map((issue) => ({
      path: [...at, ...named],
      code: issue.code === 'custom' ? String(issue.params?.['code'] ?? 'custom') : issue.code,
      message: issue.message,
    }));
  });
}

type Fault = Pick<Issue, 'code' | 'message'>;

async function folderIssue({ deps }: Call, rootId: string, path: string): Promise<Fault | undefined> {
  const root = deps.config.mediaRoots.find((one) => one.id === rootId);
  if (!root) return { code: 'unknown_root', message: 'the root does not exist' };
  const place = await placeInStorage(deps.config, { rootName: root.name, path: '' }, path);
  const there = place.kind === 'there' && (await isFolder(place.absolute));
  return there ? undefined : { code: 'no_such_folder', message: 'the folder does not exist below the root' };
}

function overlapIssue(
  taken: readonly { rootId: string; path: string }[],
  folder: { rootId: string; path: string },
): Fault | undefined {
  const inside = (a: string, b: string): boolean => a === '' || a === b || b.startsWith(`${a}/`);
  const hit = taken.some(
    (one) => one.rootId === folder.rootId && (inside(one.path, folder.path) || inside(folder.path, one.path)),
  );
  return hit ? { code: 'folder_overlap', message: "inside another library's folder" } : undefined;
}

/** Absent settings keep their defaults. */
export function settingsOf(draft: SetupDraft): Partial<Record<SettingKey, unknown>> {
  const values = {
    'server.name': draft.serverName,
    'server.language': draft.language,
    'server.country': draft.country,
    'server.timeZone': draft.timeZone,
    'server.publicUrl': draft.publicUrl,
    ...draft.settings,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** 409 for another value of a setting that a resource declares. */
function refuseManagedSettings({ deps }: Call, draft: SetupDraft): void {
  const { declaredSettings: declared, managedBy } = deps.config;
  const requested = Object.entries(settingsOf(draft));
  const fields = requested
    .filter(([key, value]) => Object.hasOwn(declared, key) && !isDeepStrictEqual(declared[key], value))
    .map(([key]) => key);
  if (fields.length > 0) throw conflict('managed-by-resource', 'A resource declares this', { fields, managedBy });
}
