import { splitName } from '../names/kinds.ts';
import type { Drafting, Grouping } from './draft.ts';
import { draftFile, inside } from './local.ts';

/** Every file of a library of plain files is an item of its own, named as it is. */
export function* groupFiles(grouping: Grouping): Drafting {
  for (const { name } of grouping.files) {
    yield {
      ...{ type: 'file', key: `p:${inside(grouping.directory, name)}`, top: true },
      title: splitName(name).stem,
      ...{ ids: {}, artwork: {} },
      files: [draftFile(grouping, name, { rank: 0 })],
    };
  }
  return [];
}
