"""First names by which a person is told in English text: common ones of famous and of ordinary people."""

from __future__ import annotations

_WOMEN = (
    "Ada Agnes Alexandra Alice Alicia Amanda Amelia Amy Andrea Angela Ann Anna Anne Annie Audrey "
    "Barbara Beatrice Bertha Betty Billie Carol Caroline Carrie Catherine Cecilia Christina Christine "
    "Clara Claire Claudia Condoleezza Cynthia Daisy Deborah Denise Diana Diane Dolores Donna Dorothy "
    "Edith Eleanor Elizabeth Ellen Emily Emma Esther Eva Eve Evelyn Florence Frances Georgia Gertrude "
    "Gloria Hannah Harriet Hazel Helen Helena Henrietta Hillary Irene Isabel Isabella Jacqueline Jane "
    "Janet Janice Jean Jennifer Jessica Joan Josephine Joyce Judith Judy Julia Julie Karen Kate "
    "Katherine Kathleen Kelly Laura Lauren Lillian Linda Lisa Louise Lucy Lydia Margaret Maria Marie "
    "Marilyn Marion Martha Mary Matilda Maya Megan Melissa Michelle Mildred Nancy Natalie Nicole Olivia "
    "Pamela Patricia Paula Phyllis Rachel Rebecca Rosa Rose Ruth Sally Samantha Sandra Sarah Sharon "
    "Sophia Stephanie Susan Susanna Sylvia Teresa Theresa Tina Valerie Vanessa Vera Victoria Virginia "
    "Vivian Wendy Whitney Winifred"
)
_MEN = (
    "Aaron Abraham Adam Adolf Alan Albert Alexander Alfred Allan Allen Andrew Anthony Antoine Arnold "
    "Arthur Ashton Barack Benjamin Bernard Bill Bob Boris Brad Brian Bruce Calvin Carl Carlos Charles "
    "Christian Christopher Chris Claude Clive Colin Dan Daniel David Dean Dennis Derek Dmitri Donald "
    "Douglas Duncan Dwight Earl Ed Edgar Edmund Edward Edwin Eli Elias Emil Emmanuel Enrico Eric Ernest "
    "Ernst Eugene Felix Ferdinand Francis Francisco Frank Franklin Franz Fred Frederick Friedrich Gary "
    "Geoffrey George Gerald Gilbert Glenn Gordon Graham Gregory Gustav Guy Hans Harold Harry Heinrich "
    "Henri Henry Herbert Herman Howard Hugh Hugo Ian Igor Isaac Ivan Jack Jacob Jacques James Jason Jay "
    "Jeff Jeffrey Jeremy Jerome Jerry Jesse Jim Jimmy Joe Johann Johannes John Johnny Jonathan Jordan "
    "Jose Joseph Josh Joshua Juan Julius Justin Karl Keith Ken Kenneth Kevin Kurt Lawrence Lee Leo Leon "
    "Leonard Leonardo Leonhard Lewis Lloyd Louis Ludwig Luis Luke Malcolm Marcus Mario Mark Martin "
    "Marvin Matthew Maurice Max Michael Miguel Mike Mohamed Morris Nathan Nathaniel Neil Nelson "
    "Nicholas Nick Niels Nikola Noah Norman Oliver Oscar Otto Patrick Paul Pedro Peter Phil Philip "
    "Phillip Pierre Ralph Ray Raymond Rene Richard Rob Robert Roger Roland Ron Ronald Roy Rudolf "
    "Russell Samuel Sam Scott Sean Sebastian Sergei Sidney Sigmund Simon Stanley Stephen Steve Steven "
    "Stewart Stuart Ted Terry Theodore Thomas Tim Timothy Todd Tom Tony Trevor Victor Vincent Vladimir "
    "Wade Wallace Walter Warren Werner Wilhelm William Winston Wolfgang Woodrow"
)

FIRST_NAMES = frozenset(f"{_WOMEN} {_MEN}".split())
"""Women's and men's."""
