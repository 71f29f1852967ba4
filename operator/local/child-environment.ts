// Children get the variables named here and no others of the operator's environment.
const PASSED = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'CUDA_VISIBLE_DEVICES',
  'LIBVA_DRIVER_NAME',
];

export function childEnvironment(
  own: Record<string, string>,
  from: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const passed = PASSED.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]));
  return { ...Object.fromEntries(passed), ...own };
}
