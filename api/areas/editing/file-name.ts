const YEAR = /^(?:18|19|20)\d\d$/;
const QUALITY = /^(?:\d{3,4}[ip]|4k|uhd|bluray|bdrip|brrip|webrip|web|hdtv|dvdrip|remux|x26[45]|h26[45]|hevc)$/i;
const MOST = 300;

/** Title and year that the name of a file begins with; undefined when no letter or digit is in it. */
export function nameOfFile(path: string): { title: string; year?: number } | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('/') + 1 + MOST);
  const dot = name.lastIndexOf('.');
  const words = (dot > 0 ? name.slice(0, dot) : name).split(/[\s._()[\]{}]/).filter((word) => word !== '');
  const at = words.findIndex((word, place) => place > 0 && (YEAR.test(word) || QUALITY.test(word)));
  const own = at < 0 ? words : words.slice(0, at);
  const title = own.slice(0, own.findLastIndex((word) => !/^[,-]+$/.test(word)) + 1).join(' ');
  if (!/[\p{L}\p{N}]/u.test(title)) return undefined;
  const year = words[at];
  return { title, ...(year !== undefined && YEAR.test(year) && { year: Number(year) }) };
}
