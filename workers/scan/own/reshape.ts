import type { Draft, ItemKey } from '../group/draft.ts';
import type { OwnRules } from './rules.ts';

/** The draft without levels that the type leaves out; several files are apart where the type joins none. */
export function* reshape(draft: Draft, own: OwnRules): Generator<Draft> {
  const isHeld = (type: string): boolean => own.levels.some(({ bases }) => bases.includes(type));
  if (draft.extra) {
    yield draft;
    return;
  }
  if (!isHeld(draft.type)) return;
  const { parent, grandparent, ...rest } = draft;
  const above = [grandparent, parent].filter((one) => one !== undefined && isHeld(one.type)) as ItemKey[];
  const [nearest, next] = above.toReversed();
  const shaped = {
    ...rest,
    ...(nearest && { parent: nearest }),
    ...(next && { grandparent: next }),
    top: own.tops.includes(draft.type),
  };
  yield* apart(shaped, own);
}

function* apart(draft: Draft, { files: { versions, parts } }: OwnRules): Generator<Draft> {
  const isParted = draft.files.some(({ part }) => part !== undefined);
  const isJoined = isParted ? parts : versions;
  if (isJoined || draft.files.length < 2) {
    yield draft;
    return;
  }
  for (const { part: _part, parts: _parts, edition: _edition, ...file } of draft.files)
    yield { ...draft, key: `${draft.key}|p:${file.path}`, files: [{ ...file, rank: 0 }] };
}
