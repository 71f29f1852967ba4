// The selection in a list: some items by id, or all that match but some.

export type Selection =
  | { kind: 'some'; ids: ReadonlySet<string> }
  | { kind: 'all'; except: ReadonlySet<string>; total: number };

export const NOTHING: Selection = { kind: 'some', ids: new Set() };

export const everything = (total: number): Selection => ({ kind: 'all', except: new Set(), total });

export const holds = (selection: Selection, id: string): boolean =>
  selection.kind === 'some' ? selection.ids.has(id) : !selection.except.has(id);

export const sizeOf = (selection: Selection): number =>
  selection.kind === 'some' ? selection.ids.size : Math.max(0, selection.total - selection.except.size);

/** The selection with these items in it, or out of it. */
export function set(selection: Selection, ids: readonly string[], selected: boolean): Selection {
  const listed = new Set(selection.kind === 'some' ? selection.ids : selection.except);
  const add = (selection.kind === 'some') === selected;
  for (const id of ids) {
    if (add) listed.add(id);
    else listed.delete(id);
  }
  return selection.kind === 'some' ? { kind: 'some', ids: listed } : { ...selection, except: listed };
}

export const toggled = (selection: Selection, id: string): Selection => set(selection, [id], !holds(selection, id));
