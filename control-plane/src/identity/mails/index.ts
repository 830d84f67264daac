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
