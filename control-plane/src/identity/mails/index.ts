export {
  accountChangedLetter,
  accountDeletedLetter,
  addressChangedLetter,
  addressChangeLetter,
  addressChangeNotice,
  keeperOf,
  passwordChangedLetter,
  resetPasswordLetter,
  secondFactorResetLetter,
  secondFactorTriedLetter,
  tokenReusedLetter,
  verifyAddressLetter,
} from './letters.ts';
export { linkTo } from './links.ts';
export { listOfRevoked } from './revoked.ts';
export type { Revoked } from './revoked.ts';
