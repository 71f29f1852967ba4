// Options of a choice as text: one a line, `value` or `value = label`.
import type { CustomFieldOption } from 'foyer-client';

export const optionLines = (options: readonly CustomFieldOption[]): string =>
  options.map(({ value, label }) => (value === label ? value : `${value} = ${label}`)).join('\n');

export function optionsOf(text: string): CustomFieldOption[] {
  return text.split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    const value = (at < 0 ? line : line.slice(0, at)).trim();
    const label = at < 0 ? value : line.slice(at + 1).trim();
    return value === '' ? [] : [{ value, label: label || value }];
  });
}
